import { sql, sqlOne } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { invalidInput } from '../../graphql/errors.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { countedAttempt } from '../session/counted-attempt.ts'
import { verifyPassword } from '../session/password.ts'
import { ownPasswordHash } from '../session/preauth.ts'
import { unlessBusy } from '../session/when-busy.ts'

/** Who asks for another password, and what of theirs it is compared with. */
export type Person = { email: string | null; displayName: string; passwordHash: string | null }

/** In an operation of the caller's. */
export async function readPerson({ userId }: SessionCaller): Promise<Person> {
  const person = await sqlOne<Omit<Person, 'passwordHash'>>`
    SELECT email, display_name AS "displayName" FROM identity.users WHERE id = ${userId}`
  return { ...person, passwordHash: await ownPasswordHash() }
}

/**
 * Whether the sign-in itself shows who they are: made within 15 minutes by mail or by a provider (ID-27). An invitation
 * is good for a week, so it counts only where there is no password yet that it could replace.
 */
export async function isFresh({ sessionId }: SessionCaller, { passwordHash }: Person): Promise<boolean> {
  const [session] = await sql<{ fresh: boolean }>`
    SELECT created_at > clock_timestamp() - interval '15 minutes'
      AND (method IN ('magic_link', 'code', 'oidc') OR (method = 'invite' AND ${passwordHash === null})) AS fresh
    FROM identity.sessions WHERE id = ${sessionId} AND revoked_at IS NULL`
  if (!session) throw requestError('UNAUTHENTICATED') // ended meanwhile
  return session.fresh
}

/** Refuses another password than the current one; tries are counted like those of a sign-in (PLAT-69). */
export async function requireCurrent(
  password: string,
  { userId }: SessionCaller,
  { email, passwordHash }: Person,
  { client }: Context,
): Promise<void> {
  let wrong = false
  await countedAttempt(
    email ?? userId,
    client.address,
    async () => {
      wrong = !(await unlessBusy(verifyPassword(password, passwordHash)))
      if (wrong) throw invalidInput('currentPassword', 'is not the current password')
    },
    () => wrong,
  )
}
