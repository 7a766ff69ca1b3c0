import { encodeId } from '../graphql/ids.ts'
import { createOrgAsOperator } from '../identity/index.ts'
import { type Command, required } from './command.ts'
import { withNewPassword } from './new-password.ts'
import { withDatabase } from './with-database.ts'

/** Makes an org and its owner, who may be somebody new and then gets a password (ID-57). */
export const command: Command = {
  options: {
    slug: { type: 'string' },
    name: { type: 'string' },
    'owner-email': { type: 'string' },
    'allow-anonymous': { type: 'boolean' },
  },
  async run(values, terminal) {
    const [slug, name, email] = [required(values, 'slug'), required(values, 'name'), required(values, 'owner-email')]
    const allowAnonymous = values['allow-anonymous'] === true
    const { result, password } = await withDatabase(() =>
      withNewPassword((offered) =>
        createOrgAsOperator({ slug, name, allowAnonymous, owner: { email, password: offered } }),
      ),
    )
    const org = { id: encodeId('Org', result.orgId), slug }
    const owner = { id: encodeId('User', result.ownerId), email, ...(password && { password }) }
    const words = [`Org       ${slug} (${org.id})`, `Owner     ${email} (${owner.id})`]
    if (password) words.push(`Password  ${password}`)
    terminal.print(words.join('\n'), { org, owner })
  },
}
