import { currentOperation } from './operation.ts'
import { statementName } from './prisma.ts'

/** Runs one statement in the caller's operation and returns its rows. Values are always parameters, never text. */
export async function sql<Row extends object>(strings: TemplateStringsArray, ...values: unknown[]): Promise<Row[]> {
  const text = strings.reduce((before, part, at) => `${before}$${at}${part}`)
  const name = statementName(text)
  const { rows } = await currentOperation().query({ text, values, ...(name && { name }) })
  return rows as Row[]
}

/** The one row a statement must return. */
export async function sqlOne<Row extends object>(strings: TemplateStringsArray, ...values: unknown[]): Promise<Row> {
  const [row] = await sql<Row>(strings, ...values)
  if (!row) throw new Error('the statement returned no row')
  return row
}
