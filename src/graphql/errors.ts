import type { Issue } from './request-errors.ts'

/** Every union error's code is its type's name without `Error` (PLAT-63). Bodies add theirs here, in the same change. */
export const ERROR_CODES = [
  'INVALID_INPUT',
  'NOT_FOUND',
  'FORBIDDEN',
  'CONFLICT',
  'LIMIT_REACHED',
  'LAST_OWNER',
  'SIGN_IN_FAILED',
  'ROUND_CLOSED',
  'ROOM_ENDED',
  'WRONG_PHASE',
  'KIND_RETIRED',
  'WRONG_PASSCODE',
  'FACILITATOR_PRESENT',
  'LINK_EXHAUSTED',
  'PLUGIN_DISABLED',
  'PLUGIN_FAULT',
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]

/** What a caller can expect and act on. Use-cases throw these; a mutation's union carries them, a query maps them (PLAT-83). */
export abstract class DomainError extends Error {
  abstract readonly code: ErrorCode
}

export class InvalidInputError extends DomainError {
  override readonly name = 'InvalidInputError'
  readonly code = 'INVALID_INPUT'
  readonly issues: readonly Issue[]
  constructor(issues: readonly Issue[]) {
    super('The input does not fit.')
    this.issues = issues
  }
}

/** One issue at `input.<path>`. */
export function invalidInput(path: string, message: string): InvalidInputError {
  return new InvalidInputError([{ path: ['input', ...path.split('.')], message }])
}

export class NotFoundError extends DomainError {
  override readonly name = 'NotFoundError'
  readonly code = 'NOT_FOUND'
  /** The input that names nothing the caller can see, where one does. */
  readonly path: readonly string[] | null
  constructor(path?: string) {
    super('There is no such thing, or it is not yours to see.')
    this.path = path === undefined ? null : ['input', ...path.split('.')]
  }
}

export class ForbiddenError extends DomainError {
  override readonly name = 'ForbiddenError'
  readonly code = 'FORBIDDEN'
  constructor(message = 'You may not do that.') {
    super(message)
  }
}

export class ConflictError extends DomainError {
  override readonly name = 'ConflictError'
  readonly code = 'CONFLICT'
  readonly currentVersion: number | null
  constructor(message = 'Somebody else changed it first.', currentVersion: number | null = null) {
    super(message)
    this.currentVersion = currentVersion
  }
}

export class LimitReachedError extends DomainError {
  override readonly name = 'LimitReachedError'
  readonly code = 'LIMIT_REACHED'
  readonly limit: number | null
  constructor(limit: number | null = null) {
    super(limit === null ? 'There are as many as there may be.' : `There may be at most ${limit}.`)
    this.limit = limit
  }
}

export class LastOwnerError extends DomainError {
  override readonly name = 'LastOwnerError'
  readonly code = 'LAST_OWNER'
  /** `orgs`: the slugs of those that would be without an owner, where it is more than the active one. */
  constructor(orgs: readonly string[] = []) {
    super(`Somebody else must be owner first${orgs.length > 0 ? `, in: ${orgs.join(', ')}` : ''}.`)
  }
}
