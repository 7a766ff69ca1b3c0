import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError } from '../../graphql/errors.ts'
import { isSpaceOwner, mayHost } from './access.ts'
import { fact } from './change.ts'
import { roomDeleted } from './events.ts'
import { lockRoom } from './lock-room.ts'

/**
 * Deletes the room and what is in it, also when it has ended. Its streams and its guests' sessions end with it
 * (ROOM-34).
 */
export async function deleteRoom(caller: UserCaller, { id: roomId }: { id: string }): Promise<{ roomId: string }> {
  const room = await lockRoom(caller, roomId, 'id')
  const leads = mayHost(caller) && room.facilitatorId === caller.userId
  if (!leads && !isSpaceOwner(caller, room)) {
    throw new ForbiddenError('Only the facilitator and the owners of the space may do that.')
  }
  await fact(roomDeleted, { kind: room.kind })(caller, room)
  await sql`DELETE FROM rooms.rooms WHERE org_id = ${room.orgId} AND id = ${room.id}`
  return { roomId }
}
