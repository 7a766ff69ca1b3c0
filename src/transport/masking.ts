import { GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { fromDatabase, RLS_REFUSED } from '../graphql/database-errors.ts'
import { DomainError, ForbiddenError, InvalidInputError, NotFoundError } from '../graphql/errors.ts'
import { isRequestError, requestError } from '../graphql/request-errors.ts'
import { redact } from '../lib/redact.ts'
import { documentFault } from './document-faults.ts'

/**
 * Every error on its way out: what a caller can act on keeps its code (PLAT-62, 83), all else becomes INTERNAL with the
 * request id, and the log has the rest.
 */
export function maskError(error: unknown, requestId: string, log: Logger): GraphQLError {
  const original = originalOf(error)
  const shown = original === undefined ? documentFault(error as GraphQLError) : visible(original)
  if (shown) return located(shown, error)

  const rls = (original as { code?: string } | undefined)?.code === RLS_REFUSED
  log.error({ err: original ?? error, requestId, ...(rls && { alarm: 'row_security_refused' }) }, 'operation failed')
  return located(requestError('INTERNAL', { requestId }), error)
}

function originalOf(error: unknown): unknown {
  if (!(error instanceof GraphQLError)) return error ?? new Error('nothing was thrown')
  if (isRequestError(error)) return error
  const { originalError } = error
  if (!originalError) return undefined
  return originalOf(originalError)
}

function visible(error: unknown): GraphQLError | undefined {
  if (isRequestError(error)) return error
  const known = error instanceof DomainError ? error : fromDatabase(error)
  if (known === undefined || isRequestError(known)) return known
  if (known instanceof InvalidInputError)
    return requestError('BAD_REQUEST', { message: known.message, issues: known.issues })
  if (known instanceof ForbiddenError) return requestError('FORBIDDEN', { message: known.message })
  if (known instanceof NotFoundError) return requestError('NOT_FOUND')
  return undefined // an error its mutation does not declare: a bug of ours
}

/** Extensions go out redacted, as all that may hold what came from outside (PLAT-23). */
function located(shown: GraphQLError, from: unknown): GraphQLError {
  if (!(from instanceof GraphQLError)) return shown
  const { nodes, source, positions, path } = from
  return new GraphQLError(shown.message, {
    nodes,
    source,
    positions,
    path,
    extensions: redact(shown.extensions),
  } as never)
}
