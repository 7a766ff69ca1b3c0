import { errorType } from '../../graphql/error-types.ts'
import { DomainError } from '../../graphql/errors.ts'

export const SIGN_IN_FAILED = 'The email, the password, the code or the link is not right.'

/** One answer, whatever did not fit (ID-23). */
export class SignInFailedError extends DomainError {
  override readonly name = 'SignInFailedError'
  readonly code = 'SIGN_IN_FAILED'
  constructor() {
    super(SIGN_IN_FAILED)
  }
}

errorType(SignInFailedError, {
  description:
    'It does not sign anybody in. The answer is the same for an unknown email, a person who may not and a wrong secret.',
})
