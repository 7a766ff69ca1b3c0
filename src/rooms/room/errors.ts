import { errorType } from '../../graphql/error-types.ts'
import { DomainError } from '../../graphql/errors.ts'

export class RoomEndedError extends DomainError {
  override readonly name = 'RoomEndedError'
  readonly code = 'ROOM_ENDED'
  constructor() {
    super('The room has ended; a host can reopen it.')
  }
}

export class WrongPhaseError extends DomainError {
  override readonly name = 'WrongPhaseError'
  readonly code = 'WRONG_PHASE'
  readonly phase: string
  constructor(phase: string) {
    super('The room is in another phase.')
    this.phase = phase
  }
}

/** Somebody leads the room and was seen within the last minute. */
export class FacilitatorPresentError extends DomainError {
  override readonly name = 'FacilitatorPresentError'
  readonly code = 'FACILITATOR_PRESENT'
  readonly retryAfterSeconds: number
  constructor(retryAfterSeconds: number) {
    super('The facilitator is there.')
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export class KindRetiredError extends DomainError {
  override readonly name = 'KindRetiredError'
  readonly code = 'KIND_RETIRED'
  constructor() {
    super('Rooms of this kind are made no longer.')
  }
}

errorType(RoomEndedError, { description: 'The room is done and takes no such change (ROOM-5).' })
errorType(WrongPhaseError, {
  description: 'The room is in a phase that has no such action.',
  fields: (t) => ({ phase: t.exposeString('phase', { description: 'The phase it is in.' }) }),
})
errorType(FacilitatorPresentError, {
  description: 'The facilitator gave a sign of life within the last minute (ROOM-42).',
  fields: (t) => ({
    retryAfterSeconds: t.exposeInt('retryAfterSeconds', {
      description: 'When the lead can be claimed, if they stay silent.',
    }),
  }),
})
errorType(KindRetiredError, { description: 'The kind was retired: its rooms go on, new ones are not made (ROOM-31).' })

/** What any change of a room may answer beside the common errors. */
export const ROOM_ERRORS = [RoomEndedError, WrongPhaseError] as const
