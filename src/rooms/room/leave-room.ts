import type { UserCaller } from '../../graphql/caller.ts'
import { detachFromRoom } from './presence.ts'
import { requireVisibleRoom } from './require-visible-room.ts'

/** Ends one of the caller's connections at once; they stay a participant (ROOM-52). */
export async function leaveRoom(
  caller: UserCaller,
  { roomId, connectionId }: { roomId: string; connectionId: string },
): Promise<{ roomId: string }> {
  await requireVisibleRoom(caller, roomId)
  await detachFromRoom(caller, roomId, connectionId)
  return { roomId }
}
