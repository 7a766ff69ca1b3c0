import type { RoomEvent } from './event-payloads.ts'
import { REPLAY_MAX, type RoomRead } from './read-room.ts'

/** What comes after a version, without a gap; null when only a snapshot can say it. Most followers have the same one. */
export function missedBy({ version, events }: RoomRead): (sent: bigint | null) => RoomEvent[] | null {
  const known = new Map<bigint, RoomEvent[] | null>()
  return (sent) => {
    if (sent === null || version === null || sent > version) return null
    const answer = known.get(sent)
    if (answer !== undefined) return answer
    const missed = events.filter((event) => (event.version as bigint) > sent)
    const contiguous = missed.every((event, at) => event.version === sent + BigInt(at) + 1n)
    const complete = missed.length === Number(version - sent) && missed.length <= REPLAY_MAX
    known.set(sent, contiguous && complete ? missed : null)
    return known.get(sent) as RoomEvent[] | null
  }
}
