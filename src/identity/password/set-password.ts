import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { ConflictError, ForbiddenError, invalidInput } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { hashPassword, passwordFault } from '../session/password.ts'
import { ownPasswordHash } from '../session/preauth.ts'
import { type EndedSession, recordRevoked } from '../session/record-revoked.ts'
import { unlessBusy } from '../session/when-busy.ts'
import { passwordChanged } from './events.ts'
import { isFresh, type Person, readPerson, requireCurrent } from './proof.ts'

type NewPassword = { password: string; currentPassword?: string | undefined }

/**
 * Gives the caller another password and ends their other sessions (ID-27). They know the current one, or have just shown
 * otherwise who they are. Computed between two operations, of which the second finds what the first saw or refuses.
 */
export async function setPassword(
  caller: SessionCaller,
  { password, currentPassword }: NewPassword,
  context: Context,
): Promise<object> {
  const scope = scopeOf(caller, context.requestId)
  const known = currentPassword !== undefined
  const person = await operation('read', scope, async () => {
    const read = await readPerson(caller)
    if (!known) await requireFresh(caller, read)
    return read
  })
  const fault = passwordFault(password, person)
  if (fault) throw invalidInput('password', fault)
  if (known) await requireCurrent(currentPassword, caller, person, context)
  const hash = await unlessBusy(hashPassword(password))

  await operation('write', scope, async () => {
    await sql`SELECT FROM identity.users WHERE id = ${caller.userId} FOR NO KEY UPDATE`
    const fresh = await isFresh(caller, person) // throws where the session was ended meanwhile
    if ((await ownPasswordHash()) !== person.passwordHash)
      throw new ConflictError('The password was changed meanwhile.')
    if (!known && !fresh) throw tooOld()
    await sql`UPDATE identity.users SET password_hash = ${hash} WHERE id = ${caller.userId}`
    await endOtherSessions(caller)
    await record(caller, passwordChanged, { target: { kind: 'User', id: caller.userId }, payload: {} })
  })
  return {}
}

async function requireFresh(caller: SessionCaller, person: Person): Promise<void> {
  if (!(await isFresh(caller, person))) throw tooOld()
}

const tooOld = () => new ForbiddenError('Give the current password, or sign in by link or code again.')

async function endOtherSessions(caller: SessionCaller): Promise<void> {
  const ended = await sql<EndedSession>`
    UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'user'
    WHERE user_id = ${caller.userId} AND id <> ${caller.sessionId} AND revoked_at IS NULL
    RETURNING id, user_id`
  await recordRevoked(caller, ended, 'user')
}
