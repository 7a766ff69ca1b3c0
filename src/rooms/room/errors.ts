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

errorType(RoomEndedError, { description: 'The room is done and takes no such change (ROOM-5).' })
errorType(WrongPhaseError, {
  description: 'The room is in a phase that has no such action.',
  fields: (t) => ({ phase: t.exposeString('phase', { description: 'The phase it is in.' }) }),
})
