import { fact, type Step } from '../room/change.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import { roundOpened } from './events.ts'
import { snapshotVoters } from './round-voters.ts'
import { waitingForIds } from './waiting.ts'

/** The room with another story on its table, or none: always a new round (ROOM-64). */
export function withStory(room: LockedRoom, story: { id: string; revealedAt: string | null } | null): LockedRoom {
  const revealed = story !== null && story.revealedAt !== null
  return { ...room, currentStoryId: story?.id ?? null, revealed, roundVersion: room.roundVersion + 1n }
}

/** Opens the round of a room made by `withStory`. */
export async function openRound(room: LockedRoom): Promise<Step> {
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
