import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import { PrismaClient } from '../generated/prisma/client.ts'
import { currentOperation } from './operation.ts'
import { poolOptions } from './pool.ts'

/** Distinct statements kept prepared on each connection; later ones run unnamed, so memory is bounded. */
const PREPARED_MAX = 500
const names = new Map<string, string>()

/** The same text has the same name on every connection. */
export function statementName(text: string): string | undefined {
  if (!poolOptions().prepared) return undefined
  const known = names.get(text)
  if (known || names.size >= PREPARED_MAX) return known
  const name = `mh_${names.size}`
  names.set(text, name)
  return name
}

const NOTHING = Promise.resolve({ rows: [], fields: [], rowCount: 0 })

type PrismaStatement = { text: string; values: unknown[]; rowMode: 'array'; types: unknown }

/**
 * What Prisma takes for a pool. It owns no connection: each statement goes to the operation of its caller, so Prisma
 * cannot read outside a transaction or without a tenant, and its own transactions are savepoints of ours.
 */
class OperationRouter extends pg.Pool {
  override query(statement: unknown): never {
    const { text, values, rowMode, types } = statement as PrismaStatement
    const name = statementName(text)
    return currentOperation().query({ text, values, rowMode, types, ...(name && { name }) }) as never
  }

  override connect(): never {
    const operation = currentOperation()
    const savepoint = operation.nextSavepoint()
    // Prisma opens one for look-ups that it sends together. Two such batches run side by side, and released in that order
    // the first takes the second's savepoint with it; a read has nothing to roll back and does without.
    const isRead = operation.kind === 'read'
    const commands: Record<string, string> = {
      BEGIN: `SAVEPOINT ${savepoint}`,
      COMMIT: `RELEASE SAVEPOINT ${savepoint}`,
      ROLLBACK: `ROLLBACK TO SAVEPOINT ${savepoint}`,
    }
    return Promise.resolve({
      on() {},
      removeListener() {},
      release() {},
      query: (statement: PrismaStatement) => {
        const command = commands[statement.text]
        if (command) return isRead ? NOTHING : operation.query({ text: command })
        return this.query(statement)
      },
    }) as never
  }
}

export const prisma = new PrismaClient({ adapter: new PrismaPg(new OperationRouter() as pg.Pool) })
