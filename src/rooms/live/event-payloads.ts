import type { CommitmentColumns } from '../commitment/commitment.ts'
import type { KudosColumns } from '../kudos/kudos.ts'
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

/** What somebody says in a standup, as of the event's version. */
export type EntryColumns = {
  orgId: string
  roomId: string
  userId: string
  yesterday: string
  today: string
  blockers: string
  skipped: boolean
  ready: boolean
  speakOrder: number | null
  spokenAt: string | null
  createdAt: string
  updatedAt: string
}

export type EntryCommentColumns = {
  orgId: string
  id: string
  roomId: string
  entryUserId: string
  authorId: string
  text: string
  createdAt: string
}

/** One place in the order in which people speak. */
export type Turn = { userId: string; spoken: boolean; skipped: boolean }

export const FACILITATOR_REASONS = ['HANDOVER', 'CLAIM', 'AUTO'] as const
export const LEAVE_REASONS = ['LEFT', 'REMOVED', 'REVOKED', 'EXPIRED', 'CAP'] as const
export const REVEAL_REASONS = ['MANUAL', 'AUTO', 'TIMER'] as const
export const SPEAKER_REASONS = ['NEXT', 'SKIP', 'DEPARTED'] as const

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
  EntryChanged: { entry: EntryColumns }
  EntryReadyChanged: { userId: string; ready: boolean }
  SpeakingStarted: { order: readonly Turn[] }
  OrderChanged: { order: readonly Turn[] }
  SpeakerChanged: {
    speakerId: string | null
    previousId: string | null
    /** When the one before had spoken; null when they did not. */
    spokenAt: string | null
    startedAt: string | null
    endsAt: string | null
    reason: (typeof SPEAKER_REASONS)[number]
  }
  EntryCommentAdded: { entryUserId: string; comment: EntryCommentColumns }
  EntryCommentRemoved: { entryUserId: string; commentId: string }
  CommitmentChanged: { commitment: CommitmentColumns }
  KudosGiven: { kudos: KudosColumns }
  KudosRemoved: { kudosId: string }
  EntryReactionsChanged: { entryUserId: string; reactions: readonly { emoji: string; count: number }[] }
  /** Without the state, which is each viewer's: it is read when the newest one is sent, as the reader marks it (ROOM-162). */
  RoomActionApplied: { action: string; phase: string; newest?: true }
}

/** Made by the live layer and stored nowhere. */
export type MadeEventPayloads = {
  RoomSnapshot: Record<string, never>
  RoomTouched: Record<string, never>
  RoomDeleted: Record<string, never>
  PresenceChanged: { userIds: readonly string[] }
  MentionReceived: { fromUserId: string }
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
