import { errorType } from '../../graphql/error-types.ts'
import { DomainError } from '../../graphql/errors.ts'

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
