import { type Fact, fact } from '../room/change.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import { slotOf } from '../schedule/slot-of-room.ts'
import { freezeDay } from '../trend/freeze-day.ts'
import { standupClosed } from './events.ts'
import { standupFigures } from './figures.ts'
import { isStandup } from './standup-room.ts'

/** What a standup's first end puts on record, and no later end (ROOM-182). Asked under the room's lock. */
export async function closedFact(room: LockedRoom): Promise<Fact | null> {
  if (!isStandup(room) || room.firstEndedAt !== null) return null
  const slot = await slotOf(room)
  const figures = slot ? await freezeDay(room, slot) : await standupFigures(room, null)
  return fact(standupClosed, { slotDate: slot?.date ?? null, ...figures })
}
