import { registerSqlState } from '../../graphql/database-errors.ts'
import { errorType } from '../../graphql/error-types.ts'
import { DomainError, NotFoundError } from '../../graphql/errors.ts'

export class WrongPasscodeError extends DomainError {
  override readonly name = 'WrongPasscodeError'
  readonly code = 'WRONG_PASSCODE'
  constructor() {
    super('The passcode is not right.')
  }
}

errorType(WrongPasscodeError, {
  description: 'The space has a passcode, and this is not it. After ten wrong tries in a minute: RATE_LIMITED.',
})

// The database takes kudos, mentions and commitments of members alone; the use-cases have asked before.
registerSqlState('MH022', () => new NotFoundError('userId'))
