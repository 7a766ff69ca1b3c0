import { type DocumentNode, type GraphQLSchema, Kind, print, type SelectionSetNode, visit } from 'graphql'
import { isPerViewer } from '../../graphql/per-viewer.ts'

/** What subscribers ask for; those who ask the same share its renderings. */
export type SharedQuery = {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operationName: string | undefined
  readonly variables: Record<string, unknown>
  /** Whether anything in it is answered for each viewer. */
  readonly perViewer: boolean
}

type Asked = Omit<SharedQuery, 'perViewer'>

/** Finds the one object for equal queries, for as long as somebody holds it. */
export class SharedQueries {
  readonly #known = new Map<string, WeakRef<SharedQuery>>()

  of(asked: Asked): SharedQuery {
    const key = keyOf(asked)
    const known = this.#known.get(key)?.deref()
    if (known) return known
    const { schema, document, operationName } = asked
    const query = { ...asked, perViewer: isPerViewer(schema, document, operationName, '') }
    this.#known.set(key, new WeakRef(query))
    for (const [old, reference] of this.#known) if (!reference.deref()) this.#known.delete(old)
    return query
  }
}

/**
 * The arguments of the subscription itself say where a stream begins and name its connection; no event is rendered by
 * them. So their variables do not count, or each client with a connection of its own would be rendered for alone.
 */
function keyOf({ document, operationName, variables }: Asked): string {
  const counted = variablesBelowRoot(document)
  const values = Object.entries(variables).filter(([name]) => counted.has(name))
  return JSON.stringify([operationName ?? null, values.sort(([a], [b]) => (a < b ? -1 : 1)), print(document)])
}

const below = new WeakMap<DocumentNode, ReadonlySet<string>>()

function variablesBelowRoot(document: DocumentNode): ReadonlySet<string> {
  const known = below.get(document)
  if (known) return known
  const roots = new Set<SelectionSetNode>()
  const names = new Set<string>()
  visit(document, {
    OperationDefinition: ({ selectionSet }) => void roots.add(selectionSet),
    // A fragment may stand at the root too; there the type is the subscription's.
    FragmentDefinition: ({ typeCondition, selectionSet }) => {
      if (typeCondition.name.value === 'Subscription') roots.add(selectionSet)
    },
    InlineFragment: ({ selectionSet }, _key, parent) => {
      if (Array.isArray(parent) && [...roots].some(({ selections }) => selections === parent)) roots.add(selectionSet)
    },
    Argument: (_argument, _key, _parent, _path, ancestors) => {
      const field = ancestors.at(-1)
      const set = ancestors.at(-2)
      const ofRoot = [...roots].some(({ selections }) => selections === set)
      return ofRoot && field && 'kind' in field && field.kind === Kind.FIELD ? false : undefined
    },
    Variable: ({ name }) => void names.add(name.value),
    VariableDefinition: () => false,
  })
  below.set(document, names)
  return names
}
