import { sql, sqlOne } from '../../db/sql.ts'
import { ConflictError, invalidInput } from '../../graphql/errors.ts'
import { cleanText, displayNameFault, firstCodePoints } from '../../lib/text.ts'
import { newId } from '../../lib/type-id.ts'
import { hashPassword, passwordFault } from '../session/password.ts'
import { findPerson } from '../session/preauth.ts'
import { emailFault, emailOf, localPart } from '../user/email.ts'
import type { Role } from './role.ts'
import { freeUsername } from './username.ts'

export type PersonInput = { email: string; displayName?: string | undefined; password?: string | undefined }
/** A registered person; `made` is what the operation that takes them in has yet to write. */
export type Person = { userId: string; made?: { email: string; displayName: string; passwordHash: string | null } }

/** Who has the email, or somebody new; computes the password, so it stands before the operation. */
export async function personFor(input: PersonInput): Promise<Person> {
  const email = emailOf(input.email)
  const wrong = emailFault(email)
  if (wrong) throw invalidInput('email', wrong)
  const known = await findPerson(email)
  if (known) {
    if (known.status === 'disabled') throw new ConflictError('The person is disabled.')
    if (input.password !== undefined) throw invalidInput('password', 'must be left out: the person is there already')
    return { userId: known.user_id }
  }

  const displayName = cleanText(input.displayName ?? firstCodePoints(localPart(email), 64))
  const unfit = displayNameFault(displayName)
  if (unfit) throw invalidInput('displayName', unfit)
  const weak = input.password === undefined ? null : passwordFault(input.password, { email, displayName })
  if (weak) throw invalidInput('password', weak)
  const passwordHash = input.password === undefined ? null : await hashPassword(input.password)
  return { userId: newId(), made: { email, displayName, passwordHash } }
}

/**
 * Makes the person a live member, in a write operation of theirs in that org. Who is there already is held to the commit:
 * nobody erased or disabled meanwhile comes to belong, or to own.
 */
export async function takeIn(orgId: string, { userId, made }: Person, role: Role): Promise<void> {
  if (!made) {
    const [person] = await sql`
      SELECT FROM identity.users WHERE id = ${userId} AND status IN ('active', 'invited') FOR NO KEY UPDATE`
    if (!person) throw new ConflictError('The person is not there any more.')
  } else {
    await sql`
      INSERT INTO identity.users (id, type, account, display_name, email, password_hash, status)
      VALUES (${userId}, 'human', 'registered', ${made.displayName}, ${made.email}, ${made.passwordHash}, 'invited')`
  }
  await putMembership(orgId, userId, role)
  await sql`UPDATE identity.users SET status = 'active' WHERE id = ${userId} AND status = 'invited'`
}

/** A revoked or invited row opens again under its own username. */
async function putMembership(orgId: string, userId: string, role: Role): Promise<void> {
  const [known] = await sql<{ live: boolean }>`
    SELECT joined_at IS NOT NULL AND revoked_at IS NULL AS live FROM identity.memberships
    WHERE org_id = ${orgId} AND user_id = ${userId} FOR NO KEY UPDATE`
  if (known?.live) throw new ConflictError('The person is a member already.')
  if (known) {
    await sql`
      UPDATE identity.memberships SET role = ${role}, joined_at = now(), revoked_at = NULL, revoked_by = NULL
      WHERE org_id = ${orgId} AND user_id = ${userId}`
    return
  }
  const { email, name } = await sqlOne<{ email: string | null; name: string }>`
    SELECT email, display_name AS name FROM identity.users WHERE id = ${userId}`
  const username = await freeUsername(orgId, email === null ? name : localPart(email))
  await sql`
    INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at)
    VALUES (${orgId}, ${userId}, ${role}, ${username}, now())`
}
