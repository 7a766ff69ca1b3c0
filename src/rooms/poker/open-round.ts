import { fact, type Step } from '../room/change.ts'
import { roundOpened } from './events.ts'
import type { PokerRoom } from './poker-room.ts'
import { snapshotVoters } from './round-voters.ts'
import { waitingForIds } from './waiting.ts'

/** The room with another story on its table, or none: always a new round (ROOM-64). */
export function withStory(room: PokerRoom, story: { id: string; revealedAt: string | null } | null): PokerRoom {
  const revealed = story !== null && story.revealedAt !== null
  return { ...room, currentStoryId: story?.id ?? null, revealed, roundVersion: room.roundVersion + 1n }
}

/** Opens the round of a room made by `withStory`. */
export async function openRound(room: PokerRoom): Promise<Step> {
  const { id, currentStoryId: storyId, revealed, roundVersion, config } = room
  if (storyId !== null && !revealed && config.openVoting) await snapshotVoters(room, storyId)
  const round = { storyId, roundVersion: String(roundVersion), revealed }
  return {
    type: 'RoundOpened',
    payload: { ...round, waitingForIds: await waitingForIds(room) },
    set: { current_story_id: storyId, poker_round_version: roundVersion, revealed },
    fact: fact(roundOpened, round, storyId === null ? { kind: 'Room', id } : { kind: 'Story', id: storyId }),
  }
}
