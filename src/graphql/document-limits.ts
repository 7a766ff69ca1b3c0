import { complexityFromQuery } from '@pothos/plugin-complexity'
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql'

/** Bounds of one document (PLAT-66, 67). A bound of 0 refuses everything; it is not "unlimited". */
export type DocumentLimits = {
  depth: number
  aliases: number
  directives: number
  rootFields: number
  rootMutations: number
}
export type Shape = { depth: number; aliases: number; directives: number; rootFields: number }

const NOTHING: Shape = { depth: 0, aliases: 0, directives: 0, rootFields: 0 }

/**
 * What a document would make the server do, counted through fragments as often as they are spread. Each fragment is
 * counted once and multiplied, so a bomb of nested spreads is measured without being expanded.
 */
export function shapeOf(document: DocumentNode, operation: OperationDefinitionNode): Shape {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }
  const known = new Map<string, Shape>()

  const ofSet = (set: SelectionSetNode): Shape => set.selections.map(ofSelection).reduce(sum, NOTHING)
  const ofFragment = (name: string): Shape => {
    const counted = known.get(name)
    if (counted) return counted
    known.set(name, NOTHING) // a circle is refused by validation; here it must only end
    const fragment = fragments.get(name)
    const result = fragment ? ofSet(fragment.selectionSet) : NOTHING
    known.set(name, result)
    return result
  }
  const ofSelection = (selection: SelectionNode): Shape => {
    const directives = selection.directives?.length ?? 0
    if (selection.kind === Kind.FRAGMENT_SPREAD)
      return sum(ofFragment(selection.name.value), { ...NOTHING, directives })
    const inner = selection.selectionSet ? ofSet(selection.selectionSet) : NOTHING
    if (selection.kind === Kind.INLINE_FRAGMENT) return sum(inner, { ...NOTHING, directives })
    // Introspection costs no depth: signed-in callers read the whole schema with it.
    const introspects = selection.name.value.startsWith('__')
    return {
      depth: introspects ? 0 : inner.depth + 1,
      aliases: inner.aliases + (selection.alias ? 1 : 0),
      directives: inner.directives + directives,
      rootFields: 1,
    }
  }
  const shape = ofSet(operation.selectionSet)
  return { ...shape, directives: shape.directives + (operation.directives?.length ?? 0) }
}

function sum(a: Shape, b: Shape): Shape {
  return {
    depth: Math.max(a.depth, b.depth),
    aliases: a.aliases + b.aliases,
    directives: a.directives + b.directives,
    rootFields: a.rootFields + b.rootFields,
  }
}

/** The first bound that the document exceeds, or null. */
export function exceeded(shape: Shape, limits: DocumentLimits, isMutation: boolean): string | null {
  const roots = isMutation ? limits.rootMutations : limits.rootFields
  if (shape.depth > limits.depth) return `nests deeper than ${limits.depth}`
  if (shape.aliases > limits.aliases) return `has more than ${limits.aliases} aliases`
  if (shape.directives > limits.directives) return `has more than ${limits.directives} directives`
  if (shape.rootFields > roots) return `has more than ${roots} root fields`
  return null
}

/** Whether a value holds lists and objects in each other deeper than that; looks level by level, so depth is no burden. */
export function nestsDeeper(value: unknown, levels: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}

/** What running the document may cost, by the weights that the builder declares (PLAT-67). */
export function documentCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
): number {
  return complexityFromQuery(pricedPart(document, operation), { schema, variables }).complexity
}

const priced = new WeakMap<OperationDefinitionNode, DocumentNode>()

/** The operation without `__typename`, a scalar that Pothos would count as an object. Parsed documents are used again. */
function pricedPart(document: DocumentNode, operation: OperationDefinitionNode): DocumentNode {
  const known = priced.get(operation)
  if (known) return known
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
  const selected: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] }
  const part = visit(selected, { Field: ({ name }) => (name.value === '__typename' ? null : undefined) })
  priced.set(operation, part)
  return part
}
