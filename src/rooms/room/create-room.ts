import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, invalidInput, NotFoundError } from '../../graphql/errors.ts'
import { newId } from '../../lib/type-id.ts'
import { record } from '../../platform/index.ts'
import { requireMember } from '../space/membership.ts'
import { standupConfig } from '../standup/standup-room.ts'
import { mayHost } from './access.ts'
import type { ConfigInput } from './config-input.ts'
import { KindRetiredError } from './errors.ts'
import { roomCreated } from './events.ts'
import { holdMembership } from './hold-membership.ts'
import { insertRoom } from './insert-room.ts'
import { pokerConfig } from './poker-config.ts'

type NewRoom = { spaceId: string; kind: string; title: string; config: ConfigInput }

/** Opens a room in a space, led by the caller (ROOM-30). */
export async function createRoom(
  caller: UserCaller,
  { spaceId, kind, title, config }: NewRoom,
): Promise<{ roomId: string }> {
  const { orgId, userId } = caller
  await holdMembership(caller, spaceId)
  const { slug } = await requireMember(caller, spaceId, 'spaceId')
  if (!mayHost(caller)) throw new ForbiddenError('You cannot lead a room.')
  await requireOffered(orgId, kind)
  const checked = await configOf({ orgId, spaceId }, kind, config)

  const roomId = newId()
  await insertRoom({ orgId, roomId, spaceId, kind, title, config: checked, facilitatorId: userId, createdBy: userId })
  const target = { kind: 'Room', id: roomId } as const
  await record(caller, roomCreated, { target, spaceId, spaceSlug: slug, roomId, payload: { kind } })
  return { roomId }
}

/** A kind that was retired makes no more rooms; one that is not offered is not there (ROOM-31). */
async function requireOffered(orgId: string, kind: string): Promise<void> {
  const [row] = await sql<{ retired: boolean }>`
    SELECT retired_at IS NOT NULL AS retired FROM rooms.room_kinds
    WHERE org_id = ${orgId} AND kind = ${kind} AND (provider = 'core' OR retired_at IS NOT NULL)`
  if (!row) throw new NotFoundError('kind')
  if (row.retired) throw new KindRetiredError()
}

async function configOf(
  place: { orgId: string; spaceId: string },
  kind: string,
  { poker, standup }: ConfigInput,
): Promise<object> {
  if (kind === 'poker' && poker) return pokerConfig(place, poker)
  if (kind === 'standup' && standup) return standupConfig(standup)
  throw invalidInput(`config.${kind}`, `is what a room of kind ${kind} needs`)
}
