import { z } from 'zod'
import { Arg } from './arguments.ts'
import { builder, type SchemaTypes } from './builder.ts'
import type { Comparator, Where } from './comparators.ts'

const CONDITIONS_MAX = 100
const DEPTH_MAX = 8

type Given = Record<string, unknown>
type Refuse = (path: readonly string[], message: string) => void
type Walk = { comparators: Record<string, Comparator>; refuse: Refuse; conditions: number }

/**
 * The input type `name` of these comparators with `and`, `or` and `not`, as an argument whose value is the Prisma `where`
 * it asks for: `{ filter: filterOf('AuditFilter', { … }).nullable() }`. Fields given together must all hold.
 */
export function filterOf(name: string, comparators: Record<string, Comparator>, description?: string): Arg<Where> {
  const type = builder.inputRef<Given>(name)
  type.implement({
    description: description ?? 'Fields given together must all hold.',
    fields: ((t: PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>) => ({
      ...Object.fromEntries(
        Object.entries(comparators).map(([field, { type: input }]) => [field, t.field({ type: input as never })]),
      ),
      and: t.field({ type: [type], description: 'All of these hold.' }),
      or: t.field({ type: [type], description: 'At least one of these holds.' }),
      not: t.field({ type, description: 'This does not hold.' }),
    })) as never,
  } as never)

  const check = z.custom<Given>().transform((given, context) => {
    const refuse: Refuse = (path, message) => context.addIssue({ code: 'custom', path: [...path], message })
    return whereOf(given, [], { comparators, refuse, conditions: 0 })
  })
  return new Arg<Where>(type as never, check, true, 'Only rows for which this holds.')
}

function whereOf(given: Given, path: readonly string[], walk: Walk): Where {
  if (path.length > 2 * DEPTH_MAX) walk.refuse(path, 'is nested too deeply')
  else
    return { AND: Object.entries(given).flatMap(([field, value]) => conditionOf(field, value, [...path, field], walk)) }
  return {}
}

function conditionOf(field: string, value: unknown, path: readonly string[], walk: Walk): Where[] {
  walk.conditions += 1
  if (walk.conditions > CONDITIONS_MAX) {
    if (walk.conditions === CONDITIONS_MAX + 1) walk.refuse(path, `a filter has at most ${CONDITIONS_MAX} conditions`)
    return []
  }
  if (value === null) {
    walk.refuse(path, 'must not be null')
    return []
  }
  const nested = (each: unknown, at: readonly string[]) => {
    if (Object.keys(each as Given).length === 0) walk.refuse(at, 'names no condition') // true of all, or by mistake?
    return whereOf(each as Given, at, walk)
  }
  const listed = () => {
    if ((value as Given[]).length === 0) walk.refuse(path, 'names no condition')
    return (value as Given[]).map((each, at) => nested(each, [...path, String(at)]))
  }
  if (field === 'and') return listed()
  if (field === 'or') return [{ OR: listed() }]
  if (field === 'not') return [{ NOT: nested(value, path) }]
  return compared(walk.comparators[field]!, value, path, walk)
}

function compared({ check }: Comparator, value: unknown, path: readonly string[], { refuse }: Walk): Where[] {
  const read = check.safeParse(value)
  if (read.success) return [read.data]
  for (const issue of read.error.issues) refuse([...path, ...issue.path.map(String)], issue.message)
  return []
}
