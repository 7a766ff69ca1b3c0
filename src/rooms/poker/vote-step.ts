import { fact, type Step } from '../room/change.ts'
import { voteCast, voteCleared } from './events.ts'
import type { OpenRound } from './poker-room.ts'

const FACTS = { VoteCast: voteCast, VoteCleared: voteCleared } as const

/** That somebody has voted in the round on the table, or that their vote there is gone. */
export function voteStep(type: keyof typeof FACTS, room: OpenRound, userId: string): Step {
  const storyId = room.currentStoryId
  const vote = { storyId, roundVersion: String(room.roundVersion), userId }
  return { type, payload: vote, fact: fact(FACTS[type], vote, { kind: 'Story', id: storyId }) }
}
