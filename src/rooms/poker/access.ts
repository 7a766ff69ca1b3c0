import { ForbiddenError, invalidInput } from '../../graphql/errors.ts'
import { RoomEndedError, WrongPhaseError } from '../room/errors.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import { RoundClosedError } from './errors.ts'
import { hasOpenRound, isPoker, type OpenRound, type PokerRoom } from './poker-room.ts'

/** Poker is played in a poker room that is not done (ROOM-5). */
export function requireActivePoker(room: LockedRoom): asserts room is PokerRoom {
  if (room.endedAt !== null) throw new RoomEndedError()
  if (!isPoker(room)) throw new WrongPhaseError(room.phase)
}

/** Guests and members vote, spectators watch. */
export function requireVoter({ me }: LockedRoom): void {
  if (me.spectator) throw new ForbiddenError('Spectators do not vote.')
}

/** The open round of this very version is on the table (ROOM-69, 72). */
export function requireOpenRound(room: PokerRoom, roundVersion: bigint): asserts room is OpenRound {
  if (!hasOpenRound(room) || room.roundVersion !== roundVersion) throw new RoundClosedError(room)
}

export function requireCard({ config: { deck } }: PokerRoom, card: string): void {
  if (!deck.cards.includes(card)) throw invalidInput('card', 'is no card of the deck')
}
