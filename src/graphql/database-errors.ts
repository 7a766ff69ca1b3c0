import pg from 'pg'
import { PoolExhaustedError } from '../db/pool.ts'
import { AbortedTransactionError } from '../db/transaction.ts'
import {
  ConflictError,
  type DomainError,
  InvalidInputError,
  LastOwnerError,
  LimitReachedError,
  NotFoundError,
} from './errors.ts'
import { requestError } from './request-errors.ts'

/** Bodies register the errors of their own SQLSTATEs beside these (§1.2 of the identity and platform rules). */
const CUSTOM = new Map<string, () => Error>([
  ['MH005', () => new LastOwnerError()],
  ['MH007', () => new LastOwnerError()],
  ['MH008', () => new ConflictError()],
  ['MH009', () => new NotFoundError()],
  ['MH010', () => new ConflictError()],
  ['MH011', () => new LimitReachedError()],
  ['MH012', () => requestError('ORG_ARCHIVED')],
  ['MH013', () => new LimitReachedError()],
  ['MH060', () => new ConflictError('The name is taken.')],
])

export function registerSqlState(code: string, error: () => DomainError): void {
  CUSTOM.set(code, error)
}

/** Rows that row security refused: a hole or a bug in our code, so it raises an alarm and tells the caller nothing. */
export const RLS_REFUSED = '42501'

/**
 * The one map from what PostgreSQL says to what a caller gets (PLAT-64). Undefined means INTERNAL: the masking logs the
 * error and answers with the request id alone.
 */
export function fromDatabase(error: unknown): Error | undefined {
  if (error instanceof PoolExhaustedError) return requestError('OVERLOADED', { retryAfterSeconds: 1 })
  if (error instanceof AbortedTransactionError) return undefined
  if (!(error instanceof pg.DatabaseError)) return undefined

  const custom = error.code === undefined ? undefined : CUSTOM.get(error.code)
  if (custom) return custom()
  switch (error.code) {
    case '23505': // unique
    case '23001': // restrict
    case '40001': // serialization, after its retries
    case '40P01': // deadlock, after its retries
      return new ConflictError()
    case '23503': // foreign key; a row still referred to cannot go, a row that is not there cannot be named
      return error.message.startsWith('update or delete on') ? new ConflictError() : new NotFoundError()
    case '23514': // check
    case '22001': // too long
    case '22003': // out of range
    case '23502': // not null
      return new InvalidInputError([{ path: ['input'], message: 'A value is outside what it may be.' }])
    case '57014': // statement timeout
    case '55P03': // lock timeout
    case '25P03': // idle in transaction
      return requestError('TIMEOUT')
    case '53300':
      return requestError('OVERLOADED', { retryAfterSeconds: 1 })
  }
  return undefined
}
