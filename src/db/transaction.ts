import type { Writable } from 'node:stream'
import pg from 'pg'
import { rowSecurityRefused } from '../lib/metrics.ts'
import { isUuid } from '../lib/uuid.ts'
import { type HintOutlet, lease, poolOptions } from './pool.ts'
import { beginning, HINTS, idSettings, type OperationKind, type Scope, settings } from './scope.ts'

type Statement = { text: string; values?: unknown[]; name?: string; rowMode?: 'array'; types?: unknown }

/** All that an operation before or across orgs may do: call the functions that see past orgs, join the waitlist (PLAT-4). */
const ACROSS_ORGS = { preauth: /\bpreauth_[a-z_]+\(|\bINTO identity\.waitlist\b/, sweep: /\b(claim|maint)_[a-z_]+\(/ }

export class OutsideOperationError extends Error {
  override name = 'OutsideOperationError'
}

/** COMMIT was answered with ROLLBACK: some code swallowed a failed statement and went on. */
export class AbortedTransactionError extends Error {
  override name = 'AbortedTransactionError'
}

/** One database transaction. It opens with its first statement, so an operation that reads nothing costs nothing. */
export class Operation {
  readonly kind: OperationKind
  readonly scope: Scope
  /** The last error PostgreSQL itself reported: Prisma's wrapping loses its SQLSTATE and constraint. */
  fault: pg.DatabaseError | undefined
  /** A statement failed, so what a read gave since is not all there is. */
  broken = false
  /** Where its hints go when it has committed, instead of being notified. */
  #hints: HintOutlet | undefined
  #connection: Promise<pg.PoolClient> | undefined
  #savepoints = 0
  #ended = false
  readonly #afterCommit: (() => void)[] = []

  constructor(kind: OperationKind, scope: Scope) {
    this.kind = kind
    this.scope = scope
  }

  /** Whether there is a transaction yet. */
  get begun(): boolean {
    return this.#connection !== undefined
  }

  async query(statement: Statement): Promise<pg.QueryResult> {
    if (this.#ended) throw new OutsideOperationError('statement after the end of its operation')
    if ((this.kind === 'preauth' || this.kind === 'sweep') && !ACROSS_ORGS[this.kind].test(statement.text)) {
      throw new OutsideOperationError(`statement of no ${this.kind} operation`)
    }
    this.#connection ??= this.#begin()
    const connection = await this.#connection
    return this.#send(connection, statement)
  }

  /**
   * Runs one statement of a shared read as one of those it is made for: what only they may see, at the same snapshot and
   * on the same connection (a second lease inside an operation could wait for itself). Three statements sent in one turn,
   * so none of a sibling's can come between; the user is gone again before the next.
   */
  async queryAs(userId: string, statement: Statement): Promise<pg.QueryResult> {
    if (this.kind !== 'read' || this.scope.orgId === undefined || this.scope.userId !== undefined || !isUuid(userId)) {
      throw new TypeError('only a read that has an org and no user reads as somebody')
    }
    const [, result] = await Promise.all([
      this.query({ text: `SELECT set_config('moothall.user_id', '${userId}', true)` }),
      this.query(statement),
      this.query({ text: "SELECT set_config('moothall.user_id', '', true)" }),
    ])
    return result
  }

  /** Runs one statement of a write under another scope, and goes on under its own. Sent in one turn, as above. */
  async queryFor(scope: Pick<Scope, 'orgId' | 'userId'>, statement: Statement): Promise<pg.QueryResult> {
    const { orgId, userId } = this.scope
    const [, result] = await Promise.all([
      this.query({ text: `SELECT ${idSettings(scope)}` }),
      this.query(statement),
      this.query({ text: `SELECT ${idSettings({ orgId, userId })}` }),
    ])
    return result
  }

  async savepoint<T>(run: () => Promise<T>): Promise<T> {
    const name = this.nextSavepoint()
    await this.query({ text: `SAVEPOINT ${name}` })
    try {
      const result = await run()
      await this.query({ text: `RELEASE SAVEPOINT ${name}` })
      return result
    } catch (error) {
      await this.query({ text: `ROLLBACK TO SAVEPOINT ${name}` })
      throw error
    }
  }

  /** What this process has to forget once the change holds; not called when it never does. */
  afterCommit(callback: () => void): void {
    this.#afterCommit.push(callback)
  }

  nextSavepoint(): string {
    this.#savepoints += 1
    return `mh_${this.#savepoints}`
  }

  /**
   * Ends the transaction. The connection goes back only after the server's answer; in doubt it is destroyed, so nobody
   * is ever lent a connection with a transaction or a tenant in it (PLAT-7).
   */
  async end(outcome: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    const connection = await this.#connection?.catch(() => undefined)
    if (!connection) return
    const hints = outcome === 'COMMIT' && this.#hints ? collectedHints(connection) : undefined
    const answer = await this.#send(connection, { text: outcome }).catch((error: Error) => {
      // A deferred constraint speaks at COMMIT; the server has rolled back and the connection is clean.
      const clean = error instanceof pg.DatabaseError && error.severity === 'ERROR'
      connection.release(clean ? undefined : error)
      throw error
    })
    connection.release()
    if (answer.command !== outcome) throw new AbortedTransactionError('The transaction was already aborted.')
    if (outcome === 'COMMIT') for (const callback of this.#afterCommit) callback()
    if (hints) this.#hints?.publish(await hints)
  }

  async #begin(): Promise<pg.PoolClient> {
    const { hints } = poolOptions()
    this.#hints = this.kind !== 'read' && hints?.collects ? hints : undefined
    const opening = `${beginning(this.kind)}; ${settings(this.scope, this.#hints)}` // before the lease: what throws behind it would keep it
    const connection = await lease()
    inOneWrite(connection)
    // Sent, not awaited: the first statement follows in the same trip. If this fails, so does everything behind it.
    this.#send(connection, { text: opening }).catch(ignore)
    return connection
  }

  async #send(connection: pg.PoolClient, statement: Statement): Promise<pg.QueryResult> {
    try {
      return await connection.query(statement as pg.QueryConfig)
    } catch (error) {
      this.broken = true
      if (!(error instanceof pg.DatabaseError)) throw error
      // All that was sent behind a failed statement fails for that reason: the first error says why.
      if (error.code === '25P02' && this.fault) throw this.fault
      if (error.code === ROW_SECURITY) rowSecurityRefused.inc()
      this.fault = error
      throw error
    }
  }
}

/** A grant or a policy refused the statement: a hole or a bug, so it is counted wherever it comes from (PLAT-64). */
const ROW_SECURITY = '42501'

const ignore = () => {}

/** What is sent in this turn leaves in one write: a system call saved for each operation. */
function inOneWrite(connection: pg.PoolClient): void {
  const { stream } = (connection as unknown as { connection: { stream: Writable } }).connection
  stream.cork()
  process.nextTick(() => stream.uncork())
}

/** Sent right before COMMIT, in the same trip. Where the transaction failed so does this, and there is nothing to tell. */
async function collectedHints(connection: pg.PoolClient): Promise<string[]> {
  try {
    const { rows } = await connection.query<{ hints: string }>(`SELECT current_setting('${HINTS}') AS hints`)
    return rows[0]?.hints.split('\n').slice(1, -1) ?? []
  } catch {
    return []
  }
}
