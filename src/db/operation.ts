import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import { operationRetries } from '../lib/metrics.ts'
import type { OperationKind, Scope } from './scope.ts'
import { AbortedTransactionError, Operation, OutsideOperationError } from './transaction.ts'

const ATTEMPTS = 3
const ignore = () => {}

/**
 * The place where one caller's operations follow each other. A query uses one; a document of mutations uses a write
 * operation a field, each followed by a read of what it left. Code below finds its operation here and cannot miss it.
 */
export class Lane {
  scope: Scope
  #operation: Operation
  #fault: pg.DatabaseError | undefined

  constructor(kind: OperationKind, scope: Scope) {
    this.scope = scope
    this.#operation = new Operation(kind, scope)
  }

  get operation(): Operation {
    return this.#operation
  }

  /** What PostgreSQL reported last, in this operation or one before it. */
  get fault(): pg.DatabaseError | undefined {
    return this.#operation.fault ?? this.#fault
  }

  run<T>(body: () => T): T {
    return lanes.run(this, body)
  }

  /** Ends what is open and puts a fresh lazy operation in its place. */
  async next(kind: OperationKind): Promise<void> {
    await this.#operation.end('COMMIT')
    this.#put(kind)
  }

  async abandon(kind: OperationKind): Promise<void> {
    await this.#operation.end('ROLLBACK').catch(ignore)
    this.#put(kind)
  }

  end(outcome: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    return this.#operation.end(outcome)
  }

  #put(kind: OperationKind): void {
    this.#fault = this.fault
    this.#operation = new Operation(kind, this.scope)
  }
}

const lanes = new AsyncLocalStorage<Lane>()

export function currentLane(): Lane {
  const lane = lanes.getStore()
  if (!lane) throw new OutsideOperationError('statement outside an operation')
  return lane
}

export function currentOperation(): Operation {
  return currentLane().operation
}

const lastWords = new AsyncLocalStorage<() => Promise<void>>()

/** What `body` writes ends with `last`: it runs in each of its write transactions, just before COMMIT, and again with a retry. */
export function endingWrites<T>(last: () => Promise<void>, body: () => Promise<T>): Promise<T> {
  return lastWords.run(last, body)
}

/** Runs `body` as one operation of its own: committed when it returns, rolled back when it throws. */
export function operation<T>(kind: OperationKind, scope: Scope, body: () => Promise<T>): Promise<T> {
  const requestId = scope.requestId ?? lanes.getStore()?.scope.requestId
  return new Lane(kind, { ...scope, requestId }).run(() => attempt(kind, body))
}

/**
 * Runs `body` as a write operation in the caller's lane, and leaves a fresh read operation behind for the payload
 * (DESIGN §2, after the commit). The lane's reads before it are ended first, so the next read sees the write.
 */
export async function writeInLane<T>(body: () => Promise<T>): Promise<T> {
  const lane = currentLane()
  await lane.next('write')
  try {
    return await attempt('write', body)
  } finally {
    await lane.abandon('read')
  }
}

/** A serialization failure or deadlock runs the whole body again (PLAT-6); bodies touch nothing outside the database. */
async function attempt<T>(kind: OperationKind, body: () => Promise<T>): Promise<T> {
  const lane = currentLane()
  for (let tries = 1; ; tries++) {
    const { operation: running } = lane
    try {
      const result = await body()
      if (kind === 'write' && running.begun) await lastWords.getStore()?.()
      await running.end('COMMIT')
      return result
    } catch (error) {
      await running.end('ROLLBACK').catch(ignore)
      const retry = kind === 'write' && isContention(running.fault) && tries < ATTEMPTS
      if (!retry) throw databaseErrorOf(error, running.fault)
      operationRetries.inc()
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * tries))
      await lane.abandon(kind)
    }
  }
}

function isContention(fault: pg.DatabaseError | undefined): boolean {
  return fault?.code === '40001' || fault?.code === '40P01'
}

/** Prisma's error is swapped for the database's own, which the error map understands; every other error stays itself. */
export function databaseErrorOf(error: unknown, fault: pg.DatabaseError | undefined): unknown {
  const fromPrisma = error instanceof Error && error.name.startsWith('PrismaClient')
  const swallowed = error instanceof AbortedTransactionError
  return fault && (fromPrisma || swallowed) ? fault : error
}
