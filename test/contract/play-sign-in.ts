import { createHash } from 'node:crypto'
import { hashCode } from '../../src/identity/sign-in/token.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { World } from '../support/world.ts'
import type { Play } from './stage.ts'

export const CODE = '123456'
/** Of the servers under test. */
const PEPPER = Buffer.alloc(32, 'pepper')

/** The token of a link for this play; the same each time. */
export const linkTokenOf = ({ space }: Play): string =>
  `mh_link_${createHash('sha256').update(space.slug).digest('base64url')}`

/** Whom it was mailed to: somebody of this play alone, since a person has so many sessions and no more (ID-19). */
export const addresseeOf = ({ space }: Play): string => `mailed-${space.slug}@example.org`

/** A member of the org was mailed that link, and a code. */
export async function mailed(world: World, play: Play): Promise<void> {
  const { userId } = await world.member({ space: null })
  await world.sql('UPDATE identity.users SET email = $2 WHERE id = $1', [userId, addresseeOf(play)])
  const id = newId()
  const hash = createHash('sha256').update(linkTokenOf(play)).digest()
  await world.sql(
    `INSERT INTO identity.login_tokens (org_id, id, user_id, purpose, token_hash, code_hash, expires_at)
     VALUES ($1, $2, $3, 'sign_in', $4, $5, now() + interval '15 minutes')`,
    [world.org.id, id, userId, hash, hashCode(PEPPER, id, CODE)],
  )
}

/** Everybody has just signed in by link; the newcomer once. */
export async function freshlySignedIn(world: World, { newcomer }: Play): Promise<void> {
  await world.sql(
    `UPDATE identity.sessions SET method = 'magic_link', created_at = now() WHERE method IN ('password', 'magic_link')`,
  )
  await world.sql(
    `UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'user'
     WHERE user_id = $1 AND id <> $2 AND revoked_at IS NULL`,
    [newcomer.userId, newcomer.sessionId],
  )
}
