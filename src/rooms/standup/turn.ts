import { sql, sqlOne } from '../../db/sql.ts'
import type { RoomEventPayloads } from '../live/event-payloads.ts'
import { type Fact, fact, type Step } from '../room/change.ts'
import { timerStoppedStep } from '../timer/steps.ts'
import { speakerChanged } from './events.ts'
import type { StandupRoom } from './standup-room.ts'

type Reason = RoomEventPayloads['SpeakerChanged']['reason']

/** What a standup's row loses with its last turn. */
export const NO_SPEAKER = { current_speaker_id: null, speaker_started_at: null } as const

/** The timer that ran for a turn stops with the turns; one that a host started for something else goes on. */
export const turnTimerStoppedStep = (room: StandupRoom): Step[] =>
  room.config.speakerSeconds > 0 ? timerStoppedStep(room) : []

/** The turn goes from whoever has it to the next one, or to nobody after the last. */
export async function advance(room: StandupRoom, reason: Reason): Promise<Step[]> {
  const speakerId = await nextSpeaker(room)
  const previousId = room.currentSpeakerId
  const turn = await turnStep(room, { speakerId, previousId, reason })
  const told = fact(speakerChanged, { speakerId, previousId, reason })
  return [...(speakerId === null ? turnTimerStoppedStep(room) : []), { ...turn, fact: told }]
}

/**
 * Gives the turn to somebody, with the room's timer where turns have a length (ROOM-96). Whoever spoke before has spoken
 * by the same clock.
 */
export async function turnStep(
  room: StandupRoom,
  { speakerId, previousId, reason }: { speakerId: string | null; previousId: string | null; reason: Reason },
  told?: Fact,
): Promise<Step> {
  const { speakerSeconds } = room.config
  const { now, end } = await sqlOne<{ now: string; end: string }>`
    SELECT now::text, (now + make_interval(secs => ${speakerSeconds}))::text AS end FROM clock_timestamp() AS now`
  const startedAt = speakerId === null ? null : now
  const endsAt = speakerId === null || speakerSeconds === 0 ? null : end
  const spokenAt = previousId !== null && reason === 'NEXT' ? now : null
  if (spokenAt !== null) {
    await sql`
      UPDATE rooms.standup_entries SET spoken_at = ${spokenAt}
      WHERE org_id = ${room.orgId} AND room_id = ${room.id} AND user_id = ${previousId}`
  }
  return {
    type: 'SpeakerChanged',
    payload: { speakerId, previousId, spokenAt, startedAt, endsAt, reason },
    set: {
      current_speaker_id: speakerId,
      speaker_started_at: startedAt,
      ...(endsAt !== null && { timer_started_at: startedAt, timer_ends_at: endsAt, timer_on_end: 'none' as const }),
    },
    ...(told && { fact: told }),
  }
}

/** The first in the order who has not spoken and is not skipped, whoever speaks now aside. */
export async function nextSpeaker({ orgId, id, currentSpeakerId }: StandupRoom): Promise<string | null> {
  const [next] = await sql<{ userId: string }>`
    SELECT user_id AS "userId" FROM rooms.standup_entries
    WHERE org_id = ${orgId} AND room_id = ${id} AND speak_order IS NOT NULL AND spoken_at IS NULL AND NOT skipped
      AND user_id IS DISTINCT FROM ${currentSpeakerId}
    ORDER BY speak_order, user_id LIMIT 1`
  return next?.userId ?? null
}
