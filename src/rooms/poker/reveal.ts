import { sql } from '../../db/sql.ts'
import type { RoomEventPayloads } from '../live/event-payloads.ts'
import { fact, type Step } from '../room/change.ts'
import { roundRevealed } from './events.ts'
import type { OpenRound } from './poker-room.ts'
import { roundResult } from './result.ts'

export type RevealReason = RoomEventPayloads['RoundRevealed']['reason']

/** Opens the cards of the round on the table. */
export async function reveal(room: OpenRound, reason: RevealReason): Promise<Step> {
  const storyId = room.currentStoryId
  // Row security shows the cards from the first statement on, to everybody and so to the event that tells them.
  const [, votes] = await Promise.all([
    sql`UPDATE rooms.stories SET revealed_at = clock_timestamp() WHERE org_id = ${room.orgId} AND id = ${storyId}`,
    sql<{ userId: string; card: string }>`
      SELECT user_id AS "userId", card FROM rooms.votes
      WHERE org_id = ${room.orgId} AND story_id = ${storyId} ORDER BY cast_at, user_id`,
  ])
  const cards = votes.map(({ card }) => card)
  const result = roundResult(room.config.deck, cards)
  const round = { storyId, roundVersion: String(room.roundVersion), reason }
  const { counted, average, mode, consensus } = result
  return {
    type: 'RoundRevealed',
    payload: { ...round, votes, result },
    set: { revealed: true },
    fact: fact(roundRevealed, { ...round, counted, average, mode, consensus }, { kind: 'Story', id: storyId }),
  }
}
