import { type Fact, fact } from '../room/change.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import { standupClosed } from './events.ts'
import { standupFigures } from './figures.ts'
import { isStandup } from './standup-room.ts'

/** What a standup's first end puts on record, and no later end (ROOM-182). Asked under the room's lock. */
export async function closedFact(room: LockedRoom): Promise<Fact | null> {
  if (!isStandup(room) || room.firstEndedAt !== null) return null
  return fact(standupClosed, { slotDate: null, ...(await standupFigures(room)) })
}
