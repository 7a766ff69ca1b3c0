import type { UserCaller } from '../../graphql/caller.ts'
import { change, fact, noChange } from '../room/change.ts'
import { lockRoom } from '../room/lock-room.ts'
import { requirePhase, requireSpeaker } from './access.ts'
import { findEntry, putEntry } from './entry.ts'
import { readySet } from './events.ts'
import type { EntryChange } from './save-entry.ts'

/** Says whether the caller is ready to begin. Nothing but the screen goes by it (ROOM-92). */
export async function setReady(
  caller: UserCaller,
  { roomId, ready }: { roomId: string; ready: boolean },
): Promise<EntryChange> {
  const { userId } = caller
  const room = await lockRoom(caller, roomId)
  requireSpeaker(room)
  requirePhase(room, 'gather')
  const before = await findEntry(room, userId)
  if ((before?.ready ?? false) === ready) return { ...noChange(room), userId }

  await putEntry(room, userId, { ready })
  const payload = { userId, ready }
  const step = { type: 'EntryReadyChanged', payload, fact: fact(readySet, payload) } as const
  return { ...(await change(caller, room, [step])), userId }
}
