import type { UserCaller } from '../../graphql/caller.ts'
import { change, noChange, type RoomChange } from '../room/change.ts'
import { lockRoom, requireHost } from '../room/lock-room.ts'
import { requireActivePoker, requireOpenRound } from './access.ts'
import { reveal } from './reveal.ts'

export type RevealRound = { roomId: string; roundVersion: bigint }

/** Opens the cards of the round on the table, also when there are none (ROOM-72). The second of two hosts changes nothing. */
export async function revealRound(caller: UserCaller, { roomId, roundVersion }: RevealRound): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  requireActivePoker(room)
  if (room.revealed && room.roundVersion === roundVersion) return noChange(room)
  requireOpenRound(room, roundVersion)
  return change(caller, room, [await reveal(room, 'MANUAL')])
}
