import type { UserCaller } from '../../graphql/caller.ts'
import { change, fact, noChange, type RoomChange, type Step } from '../room/change.ts'
import { holdMembershipOfRoom } from '../room/hold-membership.ts'
import { lockRoom } from '../room/lock-room.ts'
import { requirePhase, requireSpeaker } from './access.ts'
import { ENTRY_TEXTS, type EntryText, findEntry, isAnswered, putEntry } from './entry.ts'
import { entrySaved } from './events.ts'
import { appendToOrder } from './order.ts'

export type PutEntry = { roomId: string } & { [K in keyof EntryText]?: string | undefined }
export type EntryChange = RoomChange & { readonly userId: string }

/**
 * Writes the caller's own entry; what is left out stays (ROOM-91). Whoever answers while people speak comes into the
 * order, behind the others (ROOM-93).
 */
export async function saveEntry(caller: UserCaller, { roomId, ...given }: PutEntry): Promise<EntryChange> {
  const { userId } = caller
  // Whoever departs meanwhile waits, and finds themselves in the order.
  const [, room] = await Promise.all([holdMembershipOfRoom(caller, roomId), lockRoom(caller, roomId)])
  requireSpeaker(room)
  requirePhase(room, 'gather', 'speak')
  const before = await findEntry(room, userId)
  const changed = ENTRY_TEXTS.filter((text) => given[text] !== undefined && given[text] !== (before?.[text] ?? ''))
  if (changed.length === 0) return { ...noChange(room), userId }

  const written = Object.fromEntries(changed.map((text) => [text, given[text]])) as Partial<EntryText>
  const entry = await putEntry(room, userId, written)
  const saved: Step = {
    type: 'EntryChanged',
    payload: { entry },
    fact: fact(entrySaved, { userId, fields: changed, answered: isAnswered(entry) }),
  }
  const appended = isAnswered(entry) ? await appendToOrder(room, userId) : []
  return { ...(await change(caller, room, [saved, ...appended])), userId }
}
