import { z } from 'zod'
import { Arg, arg, inputType } from './arguments.ts'

/** A Prisma `where`. */
export type Where = Record<string, unknown>

export const COMPARISONS = ['eq', 'neq', 'in', 'nin', 'lt', 'lte', 'gt', 'gte', 'contains', 'prefix', 'isNull'] as const
export type Comparison = (typeof COMPARISONS)[number]
/** What a column, or whatever stands for one, is asked; negations follow from it. */
export type Question = Exclude<Comparison, 'neq' | 'nin' | 'isNull'>

/** A field of a filter: its input type, and the condition that a value of that type makes. */
export type Comparator = { readonly type: Arg<unknown>['type']; readonly check: z.ZodType<Where> }

type Definition<V> = {
  /** Of the input type; fields that compare alike share it. */
  name: string
  description?: string
  value: Arg<V>
  /** Instead of `value`, where one comparison takes other values than the rest. */
  prefix?: Arg<V>
  offers: readonly Comparison[]
  /** Must be true or false of every row, never unknown: then a negation is the exact rest. */
  ask: (question: Question, value: V | readonly V[]) => Where
  isNull?: ((isNull: boolean) => Where) | undefined
}

const LIST_MAX = 100
const DESCRIPTIONS: Record<Comparison, string> = {
  eq: 'It is this.',
  neq: 'It is anything else, or nothing.',
  in: `It is one of these, at most ${LIST_MAX}.`,
  nin: `It is none of these, at most ${LIST_MAX}, or nothing.`,
  lt: 'It is less than this.',
  lte: 'It is this or less.',
  gt: 'It is greater than this.',
  gte: 'It is this or greater.',
  contains: 'It contains this text, in upper or lower case.',
  prefix: 'It begins with this text.',
  isNull: 'Whether there is nothing.',
}
const inputTypes = new Map<string, Comparator['type']>()

export function comparator<V>({
  name,
  description = 'Comparisons given together must all hold.',
  value,
  prefix = value,
  offers,
  ask,
  isNull,
}: Definition<V>): Comparator {
  const conditionOf = (comparison: Comparison, operand: unknown): Where => {
    if (comparison === 'isNull') return isNull!(operand as boolean)
    if (comparison === 'neq') return { NOT: ask('eq', operand as V) }
    if (comparison === 'nin') return { NOT: ask('in', operand as V[]) }
    return ask(comparison, operand as V)
  }
  const operands = Object.fromEntries(
    offers.map((comparison) => {
      const operand = operandOf(comparison, comparison === 'prefix' ? prefix : value, !isNull)
      return [comparison, operand.describe(DESCRIPTIONS[comparison])]
    }),
  )
  const check = z
    .object(Object.fromEntries(Object.entries(operands).map(([comparison, operand]) => [comparison, operand.check])))
    .refine((given) => Object.keys(given).length > 0, 'names no comparison')
    .transform((given): Where => {
      const conditions = Object.entries(given).map(([name, operand]) => conditionOf(name as Comparison, operand))
      return conditions.length === 1 ? conditions[0]! : { AND: conditions }
    })
  return { type: typeOf(name, operands, description), check }
}

function operandOf<V>(comparison: Comparison, value: Arg<V>, neverNull: boolean): Arg<unknown> {
  if (comparison === 'in' || comparison === 'nin') return arg.list(value, LIST_MAX).optional()
  if (comparison !== 'isNull') return value.optional()
  if (!neverNull) return arg.boolean().optional()
  return new Arg<unknown>('Boolean', z.never('the field is never null').optional(), false)
}

/** One input type a name, made when the first filter needs it. */
function typeOf(name: string, operands: Record<string, Arg<unknown>>, description: string): Comparator['type'] {
  const made = inputTypes.get(name) ?? (inputType(name, operands, description) as never)
  inputTypes.set(name, made)
  return made
}
