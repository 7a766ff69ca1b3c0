import type { LockedRoom } from '../room/lock-room.ts'

/** How a standup was set up. */
export type StandupConfig = {
  /** People write when it suits them; nobody waits for anybody. */
  readonly async: boolean
  /** How long a turn is meant to take; 0 for no timer. */
  readonly speakerSeconds: number
}

/** By when people came, or as chance has it (ROOM-93). */
export const SPEAKING_ORDERS = ['JOINED', 'SHUFFLED'] as const
export type SpeakingOrder = (typeof SPEAKING_ORDERS)[number]

const SPEAKER_SECONDS = 120

export type StandupInput = { async?: boolean | undefined; speakerSeconds?: number | undefined }

/** ROOM-90. */
export const standupConfig = ({ async = false, speakerSeconds = SPEAKER_SECONDS }: StandupInput): StandupConfig => ({
  async,
  speakerSeconds,
})

export type StandupRoom = LockedRoom & { readonly kind: 'standup'; readonly config: StandupConfig }

export const isStandup = (room: LockedRoom): room is StandupRoom => room.kind === 'standup'

/** The config of a row whose kind is standup. */
export const standupConfigOf = (row: { config: unknown }): StandupConfig => row.config as StandupConfig
