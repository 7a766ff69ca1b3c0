import { encodeId } from '../graphql/ids.ts'
import { createUser, ROLES, type Role } from '../identity/index.ts'
import { type Command, required, UsageError } from './command.ts'
import { withNewPassword } from './new-password.ts'
import { withDatabase } from './with-database.ts'

/** Makes somebody a member of an org at once; who is new gets a password. */
export const command: Command = {
  options: { org: { type: 'string' }, email: { type: 'string' }, role: { type: 'string' }, name: { type: 'string' } },
  async run(values, terminal) {
    const [orgSlug, email, displayName] = [required(values, 'org'), required(values, 'email'), required(values, 'name')]
    const role = roleOf(required(values, 'role'))
    const { result, password } = await withDatabase(() =>
      withNewPassword((offered) => createUser({ orgSlug, email, displayName, role, password: offered })),
    )
    const user = { id: encodeId('User', result.userId), email, ...(password && { password }) }
    const words = [`User      ${email} (${user.id})`, `Role      ${role} in ${orgSlug}`]
    if (password) words.push(`Password  ${password}`)
    terminal.print(words.join('\n'), { user, org: { id: encodeId('Org', result.orgId), slug: orgSlug }, role })
  },
}

function roleOf(text: string): Role {
  const role = ROLES.find((name) => name === text.toLowerCase())
  if (!role) throw new UsageError(`--role is one of ${ROLES.join(', ')}.`)
  return role
}
