import { type Arg, arg } from './arguments.ts'
import { COMPARISONS, type Comparator, type Comparison, comparator, type Question, type Where } from './comparators.ts'
import type { EnumRef } from './enums.ts'
import type { NodeName } from './ids.ts'

type Column = { column: string; nullable?: boolean }

const EQUALITY = ['eq', 'neq', 'in', 'nin', 'isNull'] as const
const ORDER = [...EQUALITY, 'lt', 'lte', 'gt', 'gte'] as const
const TEXT_MAX = 1_000

/** Comparators of one column each. */
export const by = {
  id: (node: NodeName, column: Column) => comparing('IDFilter', arg.id(node), EQUALITY, column),
  text: (column: Column) => comparing('StringFilter', arg.exact(TEXT_MAX), COMPARISONS, column),
  uuid: (column: Column) => comparing('UUIDFilter', arg.uuid(), EQUALITY, column),
  instant: (column: Column) => comparing('DateTimeFilter', arg.dateTime(), ORDER, column),
  int: (column: Column) => comparing('IntFilter', arg.int(-(2 ** 31), 2 ** 31 - 1), ORDER, column),
  bigInt: (column: Column) => comparing('BigIntFilter', arg.bigInt(), ORDER, column),
  boolean: (column: Column) => comparing('BooleanFilter', arg.boolean(), ['eq', 'isNull'], column),
  oneOf: <V extends string>(type: EnumRef<V>, column: Column) =>
    comparing(`${type.name}Filter`, arg.enum(type), EQUALITY, column),
}

function comparing<V>(
  name: string,
  value: Arg<V>,
  offers: readonly Comparison[],
  { column, nullable }: Column,
): Comparator {
  const isNull = (yes: boolean): Where => ({ [column]: yes ? null : { not: null } })
  return comparator({
    name,
    value,
    offers,
    ask: (question, operand) => {
      const condition = { [column]: operatorOf(question, operand) }
      // Of a row without a value SQL says "unknown", and "not unknown" again: so it is asked for a value first.
      return nullable ? { AND: [isNull(false), condition] } : condition
    },
    isNull: nullable ? isNull : undefined,
  })
}

function operatorOf(question: Question, operand: unknown): Where {
  switch (question) {
    case 'eq':
      return { equals: operand }
    case 'prefix':
      return { startsWith: likeText(operand) }
    case 'contains':
      return { contains: likeText(operand), mode: 'insensitive' }
    default:
      return { [question]: operand }
  }
}

/** Prisma leaves LIKE's wildcards in the text as they are. */
export const likeText = (text: unknown) => String(text).replace(/[\\%_]/g, '\\$&')
