import { GraphQLError } from 'graphql'

/** What cuts across every field, with its HTTP status (PLAT-62). */
const STATUS = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  CSRF_REQUIRED: 403,
  AGENT_SUSPENDED: 403,
  AGENT_STOPPED: 403,
  ORG_STOPPED: 403,
  ORG_ARCHIVED: 403,
  BAD_REQUEST: 400,
  QUERY_TOO_COMPLEX: 400,
  IDEMPOTENCY_KEY_REUSED: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  IDEMPOTENCY_RESULT_LOST: 409,
  NOT_FOUND: 404,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  TIMEOUT: 503,
  OVERLOADED: 503,
  SHUTTING_DOWN: 503,
  INTERNAL: 500,
} as const

export type RequestErrorCode = keyof typeof STATUS

const MESSAGES: Record<RequestErrorCode, string> = {
  UNAUTHENTICATED: 'Sign in first: the credential is missing or no longer holds.',
  FORBIDDEN: 'You may not do that.',
  CSRF_REQUIRED: 'A request with a session cookie must echo the moothall_csrf cookie in x-moothall-csrf.',
  AGENT_SUSPENDED: 'The agent is suspended.',
  AGENT_STOPPED: 'The agent is stopped.',
  ORG_STOPPED: 'The org has stopped its agents.',
  ORG_ARCHIVED: 'The org takes no writes.',
  BAD_REQUEST: 'The request cannot be read.',
  QUERY_TOO_COMPLEX: 'The document asks for too much.',
  IDEMPOTENCY_KEY_REUSED: 'The idempotency key was used for another request.',
  IDEMPOTENCY_IN_PROGRESS: 'The request under this idempotency key still runs; ask again in a moment.',
  IDEMPOTENCY_RESULT_LOST:
    'The request under this idempotency key took effect, but its answer was lost. Look at what it changed.',
  NOT_FOUND: 'There is no such thing, or it is not yours to see.',
  PAYLOAD_TOO_LARGE: 'The request body is too large.',
  RATE_LIMITED: 'Too many requests; wait before the next one.',
  TIMEOUT: 'The database took too long; nothing was changed.',
  OVERLOADED: 'The server is busy; try again in a moment.',
  SHUTTING_DOWN: 'The server is shutting down.',
  INTERNAL: 'Something went wrong on our side.',
}

export type Issue = { path: readonly string[]; message: string }
export type RequestErrorDetails = {
  message?: string
  issues?: readonly Issue[]
  retryAfterSeconds?: number
  requestId?: string
  /** Response names of the fields that took effect. */
  committedFields?: readonly string[]
}

/** A top-level error with `extensions.code` and the HTTP status that belongs to it. */
export function requestError(code: RequestErrorCode, details: RequestErrorDetails = {}): GraphQLError {
  const { message = MESSAGES[code], retryAfterSeconds, ...shown } = details
  const headers = retryAfterSeconds === undefined ? undefined : { 'retry-after': String(Math.ceil(retryAfterSeconds)) }
  return new GraphQLError(message, {
    extensions: { code, ...shown, http: { status: STATUS[code], ...(headers && { headers }) } },
  })
}

export function isRequestError(error: unknown): error is GraphQLError {
  return error instanceof GraphQLError && typeof error.extensions.code === 'string' && error.extensions.code in STATUS
}
