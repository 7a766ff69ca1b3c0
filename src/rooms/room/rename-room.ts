import type { UserCaller } from '../../graphql/caller.ts'
import { change, fact, noChange, type RoomChange } from './change.ts'
import { roomUpdated } from './events.ts'
import { lockRoom, requireHost, requireOpen } from './lock-room.ts'

/** Gives the room another title (ROOM-34). */
export async function renameRoom(
  caller: UserCaller,
  { roomId, title }: { roomId: string; title: string },
): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  requireOpen(room)
  if (title === room.title) return noChange(room)
  return change(caller, room, [
    {
      type: 'RoomChanged',
      payload: { title, kind: room.kind, config: room.config },
      set: { title },
      fact: fact(roomUpdated, { fields: ['title'] }),
    },
  ])
}
