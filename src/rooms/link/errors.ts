import { errorType } from '../../graphql/error-types.ts'
import { DomainError } from '../../graphql/errors.ts'

export class LinkExhaustedError extends DomainError {
  override readonly name = 'LinkExhaustedError'
  readonly code = 'LINK_EXHAUSTED'
  constructor() {
    super('As many guests came by that link as it lets in.')
  }
}

errorType(LinkExhaustedError, {
  description: 'The link let in 50 guests, and lets in no other. Whoever came by it before still comes in.',
})
