import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, invalidInput, NotFoundError } from '../../graphql/errors.ts'
import { newId } from '../../lib/type-id.ts'
import { record } from '../../platform/index.ts'
import { pluginRoom } from '../plugin/new-room.ts'
import { isEnabled } from '../plugin/port.ts'
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
  const begun = await beginning({ orgId, spaceId }, kind, config)

  const roomId = newId()
  await insertRoom({ orgId, roomId, spaceId, kind, title, ...begun, facilitatorId: userId, createdBy: userId })
  const target = { kind: 'Room', id: roomId } as const
  await record(caller, roomCreated, { target, spaceId, spaceSlug: slug, roomId, payload: { kind } })
  return { roomId }
}

/** A kind that was retired makes no more rooms; one that is not offered is not there (ROOM-31). */
async function requireKind(orgId: string, kind: string): Promise<{ core: boolean }> {
  const [row] = await sql<{ retired: boolean; core: boolean; installId: string | null }>`
    SELECT retired_at IS NOT NULL AS retired, provider = 'core' AS core, install_id AS "installId"
    FROM rooms.room_kinds WHERE org_id = ${orgId} AND kind = ${kind}`
  if (row?.retired) throw new KindRetiredError()
  if (!row || !(row.core || (await isEnabled(orgId, row.installId)))) throw new NotFoundError('kind')
  return row
}

/** With what a room of the kind begins, once that fits. */
async function beginning(
  place: { orgId: string; spaceId: string },
  kind: string,
  { poker, standup, plugin }: ConfigInput,
): Promise<{ config: object; state?: object }> {
  const { core } = await requireKind(place.orgId, kind)
  if (!core) return pluginRoom(place.orgId, kind, plugin)
  if (kind === 'poker' && poker) return { config: await pokerConfig(place, poker) }
  if (kind === 'standup' && standup) return { config: standupConfig(standup) }
  throw invalidInput(`config.${kind}`, `is what a room of kind ${kind} needs`)
}
