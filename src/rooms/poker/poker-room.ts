import type { LockedRoom } from '../room/lock-room.ts'
import type { Deck } from './cards.ts'

/** How a poker room was set up; its deck is a copy, so later changes of a deck do not reach it (ROOM-57). */
export type PokerConfig = { readonly deck: Deck; readonly autoReveal: boolean; readonly openVoting: boolean }

/** What of it can be changed once the room is made (ROOM-35). */
export const POKER_SETTINGS = ['autoReveal', 'openVoting'] as const
export type PokerSetting = (typeof POKER_SETTINGS)[number]

export type PokerRoom = LockedRoom & { readonly kind: 'poker'; readonly config: PokerConfig }

/** A poker room with a story on its table whose cards are hidden. */
export type OpenRound = PokerRoom & { readonly currentStoryId: string; readonly revealed: false }

export const isPoker = (room: LockedRoom): room is PokerRoom => room.kind === 'poker'

export const hasOpenRound = (room: LockedRoom): room is OpenRound =>
  isPoker(room) && room.currentStoryId !== null && !room.revealed

/** The config of a row whose kind is poker. */
export const pokerConfigOf = (row: { config: unknown }): PokerConfig => row.config as PokerConfig
