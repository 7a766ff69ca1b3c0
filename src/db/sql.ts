import { currentOperation, Lane } from './operation.ts'
import { statementName } from './prisma.ts'
import type { OperationKind, Scope } from './scope.ts'

/** Runs one statement in the caller's operation and returns its rows. Values are always parameters, never text. */
export function sql<Row extends object>(strings: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> {
  return sqlText<Row>(numbered(strings), values)
}

const numbered = (strings: TemplateStringsArray): string =>
  strings.reduce((before, part, at) => `${before}$${at}${part}`)

/** The same for the rare statement whose text is put together, from constants of ours alone. */
export async function sqlText<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
  const name = statementName(text)
  const { rows } = await currentOperation().query({ text, values, ...(name && { name }) })
  return rows as Row[]
}

/** One statement of a shared read, run as one of those it is made for. */
export async function sqlAs<Row extends object>(userId: string, text: string, values: unknown[]): Promise<Row[]> {
  const name = statementName(text)
  const { rows } = await currentOperation().queryAs(userId, { text, values, ...(name && { name }) })
  return rows as Row[]
}

/** The one row a statement must return. */
export async function sqlOne<Row extends object>(strings: TemplateStringsArray, ...values: unknown[]): Promise<Row> {
  const [row] = await sql<Row>(strings, ...values)
  if (!row) throw new Error('the statement returned no row')
  return row
}

/**
 * An operation of one statement, sent in one trip with its BEGIN and its COMMIT: what every request asks before anything
 * else. If it fails, COMMIT is answered with ROLLBACK and the connection is as clean as after any other operation.
 */
export const sqlAlone =
  (kind: OperationKind, scope: Scope) =>
  async <Row extends object>(strings: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> => {
    const { operation } = new Lane(kind, scope)
    const text = numbered(strings)
    const name = statementName(text)
    const [{ rows }] = await Promise.all([
      operation.query({ text, values, ...(name && { name }) }),
      operation.end('COMMIT'),
    ])
    return rows as Row[]
  }
