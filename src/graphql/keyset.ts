import { isDay, isInstant } from '../lib/instant.ts'
import { isUuid } from '../lib/uuid.ts'
import { InvalidInputError } from './errors.ts'

/**
 * One column of a list's order. The columns together must be a total order, the last one unique. `type` checks the
 * values of a cursor that comes back from a caller before the database sees them.
 */
export type SortKey = {
  field: string
  type: 'uuid' | 'text' | 'instant' | 'day' | 'number'
  descending?: boolean
  /** Nulls come last (PLAT-61). */
  nullable?: boolean
}
export type PageArgs = {
  first?: number | null | undefined
  last?: number | null | undefined
  after?: string | null | undefined
  before?: string | null | undefined
}
type Value = string | number | null
type Condition = Record<string, unknown>
export type PageQuery = { where: Condition; orderBy: Condition[]; take: number }

export const PAGE_DEFAULT = 50
export const PAGE_MAX = 100

/** The order of most lists. */
export const NEWEST_FIRST: readonly SortKey[] = [
  { field: 'createdAt', type: 'instant', descending: true },
  { field: 'id', type: 'uuid', descending: true },
]

const FITS: Record<SortKey['type'], (value: unknown) => boolean> = {
  uuid: isUuid,
  text: (value) => typeof value === 'string' && !value.includes('\0'),
  instant: isInstant,
  day: isDay,
  number: Number.isFinite,
}

const fault = (path: string, message: string) => new InvalidInputError([{ path: [path], message }])

function sizeOf({ first, last }: PageArgs): number {
  if (first != null && last != null) throw fault('last', 'cannot be given together with first')
  const size = first ?? last ?? PAGE_DEFAULT
  if (size < 1 || size > PAGE_MAX) throw fault(first != null ? 'first' : 'last', `must be 1 to ${PAGE_MAX}`)
  return size
}

export function encodeCursor(values: readonly Value[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

function decodeCursor(cursor: string, order: readonly SortKey[], path: string): Value[] {
  const unreadable = () => fault(path, 'is no cursor of this list')
  let values: unknown
  try {
    values = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    throw unreadable()
  }
  if (!Array.isArray(values) || values.length !== order.length) throw unreadable()
  return order.map(({ type, nullable }, at) => {
    const value: unknown = values[at]
    if (value === null && nullable) return null
    if (!FITS[type](value)) throw unreadable()
    return value as Value
  })
}

/**
 * WHERE, ORDER BY and LIMIT of one page. Prisma's own cursor sends no LIMIT for compound keys; a plain condition does,
 * and the range on the first column, redundant as logic, is what the index can use.
 */
export function keysetQuery(args: PageArgs, order: readonly SortKey[]): PageQuery {
  const take = sizeOf(args) + 1
  const backward = args.last != null
  const orderBy = order.map(({ field, descending = false, nullable }) => {
    const sort = descending === backward ? 'asc' : 'desc'
    return { [field]: nullable ? { sort, nulls: backward ? 'first' : 'last' } : sort }
  })
  const conditions: Condition[] = []
  if (args.after != null) conditions.push(...beyond(decodeCursor(args.after, order, 'after'), order, false))
  if (args.before != null) conditions.push(...beyond(decodeCursor(args.before, order, 'before'), order, true))
  return { where: { AND: conditions }, orderBy, take }
}

/** Rows strictly after the cursor in this order, or strictly before it. */
function beyond(values: readonly Value[], order: readonly SortKey[], before: boolean): Condition[] {
  const alternatives: Condition[] = []
  const equal: Condition[] = []
  for (const [at, key] of order.entries()) {
    const value = values[at] ?? null
    const step = stepBeyond(key, value, before)
    if (step) alternatives.push({ AND: [...equal, step] })
    equal.push({ [key.field]: value })
  }
  const [first] = order
  const indexable = first && !first.nullable && values[0] != null
  const range = indexable ? [{ [first.field]: { [comparison(first, before, true)]: values[0] } }] : []
  return [...range, { OR: alternatives }]
}

function comparison({ descending = false }: SortKey, before: boolean, inclusive: boolean): string {
  return (descending === before ? 'gt' : 'lt') + (inclusive ? 'e' : '')
}

/** The condition "this column lies beyond the value"; null where nothing can, since nulls end the list. */
function stepBeyond(key: SortKey, value: Value, before: boolean): Condition | null {
  if (value === null) return before ? { [key.field]: { not: null } } : null
  const strict = { [key.field]: { [comparison(key, before, false)]: value } }
  return key.nullable && !before ? { OR: [strict, { [key.field]: null }] } : strict
}

export type Page<Row> = {
  edges: { cursor: string; node: Row }[]
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null }
}

/** Cuts the extra row off and says whether there was one. */
export function keysetPage<Row extends object>(
  found: readonly Row[],
  args: PageArgs,
  order: readonly SortKey[],
): Page<Row> {
  const size = sizeOf(args)
  const backward = args.last != null
  const more = found.length > size
  const rows = found.slice(0, size)
  if (backward) rows.reverse()

  const cursorOf = (row: Row) => encodeCursor(order.map(({ field }) => (row as Record<string, Value>)[field] ?? null))
  const cursorAt = (index: number) => {
    const row = rows.at(index)
    return row ? cursorOf(row) : null
  }
  return {
    // Cursors are made when they are asked for: most documents select none of an edge and one of the page.
    edges: rows.map((node) => ({
      node,
      get cursor() {
        return cursorOf(node)
      },
    })),
    pageInfo: {
      hasNextPage: backward ? args.before != null : more,
      hasPreviousPage: backward ? more : args.after != null,
      get startCursor() {
        return cursorAt(0)
      },
      get endCursor() {
        return cursorAt(-1)
      },
    },
  }
}

/** The columns a page must have loaded to make its cursors. */
export function sortSelection(order: readonly SortKey[]): Record<string, true> {
  return Object.fromEntries(order.map(({ field }) => [field, true]))
}
