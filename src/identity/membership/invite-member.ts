import pg from 'pg'
import { operation } from '../../db/operation.ts'
import { sql, sqlOne } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { ConflictError, invalidInput } from '../../graphql/errors.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { firstCodePoints } from '../../lib/text.ts'
import { newId } from '../../lib/type-id.ts'
import { record } from '../../platform/index.ts'
import { findPerson } from '../session/preauth.ts'
import { createInviteToken, type InviteToken, invitesOfLastHour, sendInviteMail } from '../sign-in/invite.ts'
import { emailFault, emailOf, localPart } from '../user/email.ts'
import { asLocked, requireMayChange } from './access.ts'
import { memberInvited } from './events.ts'
import { type LockedMember, lockMembers } from './lock-member.ts'
import type { Role } from './role.ts'
import { freeUsername, lockHandles, usernameOf } from './username.ts'

type InviteMember = { email: string; role: Role; username?: string | undefined }
/** Nothing of it depends on whether the email had an account. */
type Invited = { email: string; role: Role; username: string; expiresAt: Date }
type Sent = { username: string; invite: InviteToken; orgName: string; inviterName: string | null }

const INVITES_AN_HOUR = 5
/**
 * A person who is new to everybody can be invited by several at once; each then finds who the first has made. One who is
 * erased meanwhile has the email no longer, and it is somebody new who is invited.
 */
const TRIES = 3

class ErasedMeanwhileError extends Error {
  override readonly name = 'ErasedMeanwhileError'
}

/** Invites a person into the org, by an email that may be nobody's yet (ID-34, 35). The mail goes out after the commit. */
export async function inviteMember(caller: Caller, input: InviteMember, context: Context): Promise<Invited> {
  const email = emailOf(input.email)
  const fault = emailFault(email)
  if (fault) throw invalidInput('email', fault)
  const username = input.username === undefined ? undefined : usernameOf(input.username)
  requireMayChange(caller, input.role)

  const scope = scopeOf(caller, context.requestId)
  for (let tries = 1; ; tries++) {
    const person = await findPerson(email)
    try {
      const sent = await operation('write', scope, () =>
        invite(caller, { email, role: input.role, username, userId: person?.user_id }),
      )
      sendInviteMail({ email, ...sent })
      return { email, role: input.role, username: sent.username, expiresAt: sent.invite.expiresAt }
    } catch (error) {
      if (tries === TRIES || !isAnotherPerson(error)) throw error
    }
  }
}

const isAnotherPerson = (error: unknown): boolean =>
  error instanceof ErasedMeanwhileError || (error instanceof pg.DatabaseError && error.constraint === 'users_email_key')

type Invitation = { email: string; role: Role; username: string | undefined; userId: string | undefined }

async function invite(caller: Caller, { email, role, username, userId: known }: Invitation): Promise<Sent> {
  const { orgId, userId: inviterId = null } = caller
  const userId = known ?? newId()
  await lockHandles(orgId) // so invitations of one org follow each other, also two of the same person
  const { member, own } = await lockMembers(caller, userId)
  requireMayChange(asLocked(caller, own), member && !member.revoked ? member.role : role, role)
  if (member?.joined && !member.revoked) throw new ConflictError('The person is a member already.')

  if (known === undefined) await insertPerson(userId, email)
  const name = await putInvited(caller, { userId, email, role, username, member })
  await requireEmail(userId, email)
  if ((await invitesOfLastHour(orgId, userId)) >= INVITES_AN_HOUR) {
    throw requestError('RATE_LIMITED', {
      message: 'The person was invited often enough for now.',
      retryAfterSeconds: 3_600,
    })
  }
  const token = await createInviteToken({ orgId, userId, createdBy: inviterId })
  await record(caller, memberInvited, { target: { kind: 'User', id: userId }, payload: { role } })
  const { orgName, inviterName } = await sqlOne<{ orgName: string; inviterName: string | null }>`
    SELECT name AS "orgName", (SELECT display_name FROM identity.users WHERE id = ${inviterId}) AS "inviterName"
    FROM identity.orgs WHERE id = ${orgId}`
  return { username: name, invite: token, orgName, inviterName }
}

/** The row shows once its membership exists, so nothing is asked back of it (PLAT-10). */
async function insertPerson(userId: string, email: string): Promise<void> {
  await sql`
    INSERT INTO identity.users (id, type, account, display_name, email, status)
    VALUES (${userId}, 'human', 'registered', ${firstCodePoints(localPart(email), 64)}, ${email}, 'invited')`
}

/** Shows since the membership exists. Who erases the person waits for that row or its foreign key, or has come first. */
async function requireEmail(userId: string, email: string): Promise<void> {
  const [person] = await sql`SELECT FROM identity.users WHERE id = ${userId} AND email = ${email}`
  if (!person) throw new ErasedMeanwhileError()
}

type NewMembership = Omit<Invitation, 'userId'> & { userId: string; member: LockedMember | null }

/** A new membership that nobody has accepted; an invited or ended one is the same row again (ID-35). */
async function putInvited(
  { orgId, userId: inviterId }: Caller,
  { userId, email, role, username, member }: NewMembership,
): Promise<string> {
  const name = username ?? member?.username ?? (await freeUsername(orgId, localPart(email)))
  if (member) {
    await sql`
      UPDATE identity.memberships
      SET role = ${role}, username = ${name}, joined_at = NULL, revoked_at = NULL, revoked_by = NULL
      WHERE org_id = ${orgId} AND user_id = ${userId}`
  } else {
    await sql`
      INSERT INTO identity.memberships (org_id, user_id, role, username, invited_by)
      VALUES (${orgId}, ${userId}, ${role}, ${name}, ${inviterId})`
  }
  return name
}
