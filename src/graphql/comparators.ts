import { z } from 'zod'
import { inputType } from './arguments.ts'
import { arg, type Arg } from './arguments.ts'
import type { SchemaTypes } from './builder.ts'
import type { NodeName } from './ids.ts'

/** A Prisma `where`. */
export type Where = Record<string, unknown>

const COMPARISONS = ['eq', 'neq', 'in', 'nin', 'lt', 'lte', 'gt', 'gte', 'contains', 'prefix', 'isNull'] as const
type Comparison = (typeof COMPARISONS)[number]
/** What a column, or whatever stands for one, is asked; the negations and `isNull` follow from these. */
type Test = Exclude<Comparison, 'neq' | 'nin' | 'isNull'>

/** A field of a filter: the comparisons it offers, and the condition that a value of them makes. */
export type Comparator = { readonly type: Arg<unknown>['type']; readonly check: z.ZodType<Where> }

type Definition<V> = {
  /** Of the input type; fields that compare alike share it. */
  name: string
  value: Arg<V>
  offers: readonly Comparison[]
  test: (comparison: Test, value: V | readonly V[]) => Where
  isNull?: ((isNull: boolean) => Where) | undefined
}

const LIST_MAX = 100
const inputTypes = new Map<string, Comparator['type']>()

/** Comparisons given together must all hold. */
export function comparator<V>({ name, value, offers, test, isNull }: Definition<V>): Comparator {
  const checks: Record<string, z.ZodType> = {}
  for (const comparison of offers) checks[comparison] = operandOf(comparison, value, isNull).check.optional()

  const check = z.object(checks).transform((given, context): Where => {
    const conditions = Object.entries(given)
      .filter(([, operand]) => operand !== undefined)
      .map(([comparison, operand]) => conditionOf(comparison as Comparison, operand as V, test, isNull))
    if (conditions.length === 0) context.addIssue({ code: 'custom', message: 'names no comparison' })
    return conditions.length === 1 ? conditions[0]! : { AND: conditions }
  })
  return { type: typeOf(name, value, offers), check }
}

function conditionOf<V>(comparison: Comparison, operand: V, test: Definition<V>['test'], isNull: Definition<V>['isNull']): Where {
  switch (comparison) {
    case 'neq':
      return { NOT: test('eq', operand) }
    case 'nin':
      return { NOT: test('in', operand) }
    case 'isNull':
      return isNull!(operand as boolean)
    default:
      return test(comparison, operand)
  }
}

function operandOf<V>(comparison: Comparison, value: Arg<V>, isNull?: unknown): Arg<unknown> {
  if (comparison === 'in' || comparison === 'nin') return arg.list(value, LIST_MAX)
  if (comparison !== 'isNull') return value
  const { type, check } = arg.boolean()
  return { ...arg.boolean(), type, check: isNull ? check : check.refine(() => false, 'the field is never null') } as Arg<unknown>
}

/** One input type a name, made when the first filter needs it. */
function typeOf<V>(name: string, value: Arg<V>, offers: readonly Comparison[]): Comparator['type'] {
  const known = inputTypes.get(name)
  if (known) return known
  const fields = Object.fromEntries(offers.map((comparison) => [comparison, operandOf(comparison, value, true).optional()]))
  const made = inputType(name, fields, 'Comparisons given together must all hold.') as never
  inputTypes.set(name, made)
  return made
}
