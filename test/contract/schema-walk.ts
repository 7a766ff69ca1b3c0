import { readFileSync } from 'node:fs'
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLInputType,
  type GraphQLObjectType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isObjectType,
} from 'graphql'

export const SCHEMA = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'))

/** Every type that `node` can answer with. */
export const NODE_TYPES: readonly string[] = SCHEMA.getPossibleTypes(SCHEMA.getType('Node') as never).map(
  ({ name }) => name,
)

/** One place where a caller's value goes: an argument, a field of an input object, an item of a list. */
export type Slot = {
  /** From the argument down; an item of a list is `0`. */
  readonly path: readonly string[]
  readonly type: GraphQLInputType
  /** Where it is declared: `RoomRenameInput.title`, `Query.room.id`. */
  readonly declared: string
  /** The input object that holds it takes exactly one field. */
  readonly inOneOf: boolean
}

/** All slots of a field. A type that holds itself, as filters do, is entered once. */
export function slotsOf(owner: string, args: readonly GraphQLArgument[]): Slot[] {
  return args.flatMap((argument) => slotsUnder(owner, argument, [], false, []))
}

function slotsUnder(
  owner: string,
  input: GraphQLArgument | GraphQLInputField,
  above: readonly string[],
  inOneOf: boolean,
  entered: readonly string[],
): Slot[] {
  const path = [...above, input.name]
  const declared = `${owner}.${input.name}`
  const slots: Slot[] = [{ path, type: input.type, declared, inOneOf }]
  let type = getNullableType(input.type)
  let at = path
  if (isListType(type)) {
    at = [...path, '0']
    slots.push({ path: at, type: type.ofType as GraphQLInputType, declared: `${declared}[]`, inOneOf: false })
    type = getNullableType(type.ofType)
  }
  if (isInputObjectType(type) && !entered.includes(type.name)) {
    const { name, isOneOf } = type
    for (const field of Object.values(type.getFields())) {
      slots.push(...slotsUnder(name, field, at, isOneOf, [...entered, name]))
    }
  }
  return slots
}

export const nameOf = (field: string, { path }: Slot): string => `${field}(${path.join('.')})`

/** A copy of these arguments with the value in its slot; what leads there is made where it is missing. */
export function withValue(args: object, { path, inOneOf }: Slot, value: unknown): Record<string, unknown> {
  const copy = structuredClone(args) as Record<string, unknown>
  let place: Record<string, unknown> = copy
  path.slice(0, -1).forEach((key, at) => {
    const next = path[at + 1] === '0' ? [] : {}
    if (typeof place[key] !== 'object' || place[key] === null) place[key] = next
    place = place[key] as Record<string, unknown>
  })
  if (inOneOf) for (const key of Object.keys(place)) delete place[key]
  const last = path.at(-1)!
  if (value === undefined) delete place[last]
  else place[last] = value
  return copy
}

/** What stands in the slot of these arguments; undefined when nothing does. */
export function valueAt(args: object, { path }: Pick<Slot, 'path'>): unknown {
  let value: unknown = args
  for (const key of path) value = (value as Record<string, unknown> | null | undefined)?.[key]
  return value
}

/** Whether these arguments have what holds the slot, so that nothing required is missing beside it. */
export function holds(args: object, { path }: Slot): boolean {
  const place = valueAt(args, { path: path.slice(0, -1) })
  return typeof place === 'object' && place !== null
}

export type FieldPath = { readonly type: string; readonly field: string }

/** The shortest way from a root type to each field that takes arguments, through fields of object types. */
export function fieldsWithArguments(root: GraphQLObjectType): FieldPath[][] {
  const found: FieldPath[][] = []
  const seen = new Set([root.name])
  let ways: { type: GraphQLObjectType; way: FieldPath[] }[] = [{ type: root, way: [] }]
  while (ways.length > 0) {
    const next: typeof ways = []
    for (const { type, way } of ways) {
      for (const field of Object.values(type.getFields())) {
        const to = [...way, { type: type.name, field: field.name }]
        if (field.args.length > 0) found.push(to)
        const target = getNamedType(field.type)
        if (!isObjectType(target) || seen.has(target.name)) continue
        seen.add(target.name)
        next.push({ type: target, way: to })
      }
    }
    ways = next
  }
  return found
}

export function fieldAt({ type, field }: FieldPath) {
  return (SCHEMA.getType(type) as GraphQLObjectType).getFields()[field]!
}
