import type { RoundResult } from '../poker/result.ts'
import type { TimerEnd } from '../timer/timer.ts'

/** A story's columns as of the event's version. */
export type StoryColumns = {
  orgId: string
  id: string
  roomId: string
  title: string
  notes: string
  ref: string
  position: number
  estimate: string | null
  quick: boolean
  revealedAt: string | null
  createdById: string | null
  createdAt: string
  updatedAt: string
}

export type ParticipantColumns = {
  userId: string
  guest: boolean
  spectator: boolean
  cofacilitator: boolean
  joinedAt: string
}

export const FACILITATOR_REASONS = ['HANDOVER', 'CLAIM', 'AUTO'] as const
export const LEAVE_REASONS = ['LEFT', 'REMOVED', 'REVOKED', 'EXPIRED', 'CAP'] as const
export const REVEAL_REASONS = ['MANUAL', 'AUTO', 'TIMER'] as const

/** Round versions are decimal text: they outgrow what JSON numbers hold. */
type Round = { storyId: string; roundVersion: string }

/**
 * What each live event stores: everything its audience may see, texts as of its version, and never a card of a round not
 * yet revealed (ROOM-75). Ids are UUIDs here and global ids in GraphQL.
 */
export type RoomEventPayloads = {
  RoomChanged: { title: string; kind: string; config: object }
  RoomPhaseChanged: { phase: string; endedAt: string | null }
  FacilitatorChanged: {
    facilitatorId: string | null
    previousId: string | null
    reason: (typeof FACILITATOR_REASONS)[number]
  }
  CofacilitatorsChanged: { userIds: readonly string[] }
  ParticipantJoined: { participant: ParticipantColumns }
  ParticipantChanged: { participant: ParticipantColumns }
  ParticipantLeft: { userId: string; reason: (typeof LEAVE_REASONS)[number] }
  TimerChanged: { startedAt: string | null; endsAt: string | null; onEnd: TimerEnd }
  StoryAdded: { story: StoryColumns }
  StoryChanged: { story: StoryColumns }
  /** Ids only: what the stories say is read when it is sent. */
  StoriesImported: { storyIds: readonly string[]; skipped: number }
  StoriesReordered: { positions: readonly { storyId: string; position: number }[] }
  StoryRemoved: { storyId: string }
  RoundOpened: { storyId: string | null; roundVersion: string; revealed: boolean; waitingForIds: readonly string[] }
  RoundReset: Round & { waitingForIds: readonly string[] }
  RoundVotersChanged: { waitingForIds: readonly string[] }
  VoteCast: Round & { userId: string }
  VoteCleared: Round & { userId: string }
  RoundRevealed: Round & {
    reason: (typeof REVEAL_REASONS)[number]
    votes: readonly { userId: string; card: string }[]
    result: RoundResult
  }
  StoryEstimated: { storyId: string; estimate: string | null }
}

/** Made by the live layer and stored nowhere. */
export type MadeEventPayloads = {
  RoomSnapshot: Record<string, never>
  RoomTouched: Record<string, never>
  RoomDeleted: Record<string, never>
  PresenceChanged: { userIds: readonly string[] }
}

type Payloads = RoomEventPayloads & MadeEventPayloads

/** An event on its way to a subscriber; unversioned ones have no version. */
export type RoomEvent<T extends keyof Payloads = keyof Payloads> = {
  [K in T]: {
    type: K
    orgId: string
    roomId: string
    version: bigint | null
    at: string
    actorId: string | null
    payload: Payloads[K]
  }
}[T]

export type RoomEventName = keyof Payloads
