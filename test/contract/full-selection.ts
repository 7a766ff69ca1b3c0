import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import { schema } from '../../src/schema.ts'
import { NODE_TYPES, SCHEMA } from './schema-walk.ts'

/** What one selection may have (PLAT-66, 67), and how many nodes deep the walk goes. */
export type Bounds = { readonly cost: number; readonly tokens: number; readonly depth: number; readonly nodes: number }
type Chunk = { readonly text: string; readonly cost: number; readonly tokens: number }

export const PAGE = 2
const isConnection = (type: GraphQLNamedType) => type.name.endsWith('Connection')

/**
 * Selections that together hold every field reachable from a type through so many nodes, each within the bounds. Of an
 * interface or union only what concerns `typename`, where that is known.
 */
export function selectionsOf(type: GraphQLNamedType, bounds: Bounds, typename?: string): string[] {
  if (!isAbstractType(type) || typename === undefined) return chunksOf(type, bounds).map(({ text }) => text)
  return selectionsOf(SCHEMA.getType(typename)!, bounds).map((text) => `__typename ... on ${typename} { ${text} }`)
}

function chunksOf(type: GraphQLNamedType, bounds: Bounds, clashing: ReadonlySet<string> = new Set()): Chunk[] {
  if (bounds.depth < 1) return []
  if (isAbstractType(type)) {
    const possible = SCHEMA.getPossibleTypes(type)
    const clashes = clashesOf(possible)
    const parts = possible.flatMap((one) =>
      chunksOf(one, { ...bounds, tokens: bounds.tokens - 5 }, clashes).map((chunk) => ({
        ...chunk,
        text: `... on ${one.name} { ${chunk.text} }`,
        tokens: chunk.tokens + 5,
      })),
    )
    return packed(parts, bounds)
  }
  if (!isObjectType(type)) return []
  const fields = Object.values(type.getFields())
  const leaves = fields.filter((field) => isLeafType(getNamedType(field.type)) && takesNothing(type, field))
  const own = leaves.map(({ name }) => (clashing.has(name) ? `${type.name}_${name}: ${name}` : name))
  const related = fields
    .filter((field) => !leaves.includes(field))
    .flatMap((field) => relatedChunks(type, field, bounds))
  return packed(own.length > 0 ? [{ text: own.join(' '), cost: 0, tokens: own.length }, ...related] : related, bounds)
}

/** Fields of one name and different types, which one selection cannot hold under that name. */
function clashesOf(types: readonly GraphQLObjectType[]): Set<string> {
  const known = new Map<string, string>()
  const clashes = new Set<string>()
  for (const { name, type } of types.flatMap((each) => Object.values(each.getFields()))) {
    if (known.has(name) && known.get(name) !== String(type)) clashes.add(name)
    known.set(name, String(type))
  }
  return clashes
}

function relatedChunks(type: GraphQLObjectType, field: GraphQLField<unknown, unknown>, bounds: Bounds): Chunk[] {
  const target = getNamedType(field.type)
  const nodes = bounds.nodes - (NODE_TYPES.includes(target.name) || target.name === 'Node' ? 1 : 0)
  if (nodes < 0) return []
  const pages = isConnection(target)
  if (!pages) takesNothing(type, field)
  const head = pages ? `${field.name}(first: ${PAGE})` : field.name
  const spent = pages ? 8 : 3
  const weight = weightOf(type.name, field, pages ? { first: PAGE } : {})
  const inner = {
    nodes,
    depth: bounds.depth - 1,
    cost: Math.floor((bounds.cost - weight.field) / weight.multiplier),
    tokens: bounds.tokens - spent,
  }
  return chunksOf(target, inner).map(({ text, cost, tokens }) => ({
    text: `${head} { ${text} }`,
    cost: weight.field + weight.multiplier * cost,
    tokens: tokens + spent,
  }))
}

type Weight = { field: number; multiplier: number }

/** What the field costs by its own declaration, which the printed schema does not tell. */
export function weightOf(name: string, field: GraphQLField<unknown, unknown>, args: object): Weight {
  const declared = (schema.getType(name) as GraphQLObjectType).getFields()[field.name]!
  const { complexity } = declared.extensions as { complexity?: Weight | ((args: object, ...of: unknown[]) => Weight) }
  if (complexity === undefined) throw new Error(`${name}.${field.name} has no cost`)
  return typeof complexity === 'function' ? complexity(args, {}, declared) : complexity
}

/** Fields of nodes can be selected as they are; one that demands an argument must be taught to this walk. */
function takesNothing({ name }: GraphQLObjectType, field: GraphQLField<unknown, unknown>): true {
  const demanded = field.args.find(isRequiredArgument)
  if (demanded) throw new Error(`no value for ${name}.${field.name}(${demanded.name})`)
  return true
}

/** A document has 30 at most, of which its root fields need some (PLAT-66). */
const ALIASES = 24
const aliasesIn = ({ text }: Chunk): number => [...text.matchAll(/\w_\w+: /g)].length

/** As few selections as the bounds allow; each says of what type it is. What no document may hold is left out. */
function packed(parts: readonly Chunk[], { cost, tokens }: Bounds): Chunk[] {
  const packs: Chunk[] = []
  for (const part of parts) {
    if (part.cost > cost || part.tokens >= tokens) continue
    const at = packs.findIndex(
      (pack) =>
        pack.cost + part.cost <= cost &&
        pack.tokens + part.tokens <= tokens &&
        aliasesIn(pack) + aliasesIn(part) <= ALIASES,
    )
    const pack = packs[at]
    if (!pack) packs.push({ ...part, text: `__typename ${part.text}`, tokens: part.tokens + 1 })
    else
      packs[at] = { text: `${pack.text} ${part.text}`, cost: pack.cost + part.cost, tokens: pack.tokens + part.tokens }
  }
  return packs
}
