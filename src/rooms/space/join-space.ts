import { timingSafeEqual } from 'node:crypto'
import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { sha256 } from '../../lib/sha256.ts'
import { record, startAttempt } from '../../platform/index.ts'
import { roomsSettings } from '../settings.ts'
import { WrongPasscodeError } from './errors.ts'
import { memberJoined } from './events.ts'
import { holdStanding } from './hold-standing.ts'

type JoinSpace = { slug: string; passcode?: string | undefined }
type Door = { spaceId: string; passcode: string; isMember: boolean }

/**
 * Lets a member of the org, or an anonymous person of it, into a space (ROOM-14). Tries are counted outside the database
 * operations, between the one that looks and the one that joins, and wrong ones stay counted.
 */
export async function joinSpace(
  caller: UserCaller,
  { slug, passcode = '' }: JoinSpace,
  { requestId }: Context,
): Promise<{ spaceId: string }> {
  if (caller.standing === 'GUEST') throw new NotFoundError('slug')
  if (caller.account === 'agent') throw new ForbiddenError('An owner of the space adds agents.')
  const scope = scopeOf(caller, requestId)
  const door = await operation('read', scope, () => findDoor(caller, slug))
  const enter = () => operation('write', scope, () => enterSpace(caller, slug, passcode))
  if (door.passcode === '' || door.isMember) return enter()

  const { limiter } = roomsSettings()
  const attempt = await startAttempt(limiter, { spacePasscode: [caller.userId, door.spaceId] })
  if (!attempt.allowed) throw requestError('RATE_LIMITED', { retryAfterSeconds: attempt.retryAfterSeconds })
  try {
    const joined = await enter()
    await attempt.forgive()
    return joined
  } catch (error) {
    if (!(error instanceof WrongPasscodeError)) await attempt.forgive()
    throw error
  }
}

async function findDoor({ orgId, userId }: UserCaller, slug: string): Promise<Door> {
  const [door] = await sql<Door>`
    SELECT s.id AS "spaceId", s.passcode, EXISTS (
      SELECT FROM rooms.space_members AS m WHERE m.org_id = s.org_id AND m.space_id = s.id AND m.user_id = ${userId})
      AS "isMember"
    FROM rooms.spaces AS s WHERE s.org_id = ${orgId} AND s.slug = ${slug}`
  if (!door) throw new NotFoundError('slug')
  return door
}

/** The door is looked at again: slug and passcode may have changed since the try was counted. */
async function enterSpace(caller: UserCaller, slug: string, passcode: string): Promise<{ spaceId: string }> {
  const { orgId, userId } = caller
  const { spaceId, passcode: wanted, isMember } = await findDoor(caller, slug)
  if (isMember) {
    await sql`
      UPDATE rooms.space_members SET last_seen_at = now()
      WHERE org_id = ${orgId} AND space_id = ${spaceId} AND user_id = ${userId}`
    return { spaceId }
  }
  if (wanted !== '' && !isSame(passcode, wanted)) throw new WrongPasscodeError()
  await holdStanding(orgId, userId)
  const joined = await sql`
    INSERT INTO rooms.space_members (org_id, space_id, user_id) VALUES (${orgId}, ${spaceId}, ${userId})
    ON CONFLICT DO NOTHING RETURNING 1`
  if (joined.length > 0) {
    const target = { kind: 'User', id: userId } as const
    await record(caller, memberJoined, { target, spaceId, spaceSlug: slug, payload: { userId } })
  }
  return { spaceId }
}

/** In a time that tells nothing of the passcode. */
const isSame = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b))
