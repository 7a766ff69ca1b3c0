import {
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql'

/** Marks a field whose answer depends on who asks, so a shared rendering must not hold it (DESIGN §3). */
export function perViewer(description: string) {
  return { description, extensions: { perViewer: true } }
}

/** Marks a field below which the named ones are the same for whoever asks, though they are not wherever else their type is. */
export function sameForAll(...names: readonly string[]) {
  return { extensions: { sameForAll: names } }
}

const NONE: readonly string[] = []
const answers = new WeakMap<DocumentNode, Map<string, boolean>>()

/**
 * Whether an operation selects any such field when its root field answers with `typeName`. What stands in fragments on
 * other types does not count, so an event without own fields is shared although its neighbours are not.
 */
export function isPerViewer(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
  typeName: string,
): boolean {
  const known = answers.get(document) ?? new Map<string, boolean>()
  answers.set(document, known)
  const key = `${operationName ?? ''} ${typeName}`
  const answer = known.get(key) ?? selects(schema, document, operationName, typeName)
  known.set(key, answer)
  return answer
}

function selects(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
  typeName: string,
): boolean {
  const operation = document.definitions.find(
    (definition) =>
      definition.kind === 'OperationDefinition' && (!operationName || definition.name?.value === operationName),
  )
  if (operation?.kind !== 'OperationDefinition') return true
  const root = schema.getRootType(operation.operation)
  return root ? inSet(operation.selectionSet, root, new Set()) : true

  function inSet(set: SelectionSetNode, type: GraphQLNamedType, spread: Set<string>, same = NONE): boolean {
    return set.selections.some((selection) => {
      if (selection.kind === 'InlineFragment')
        return inFragment(selection.typeCondition?.name.value, selection.selectionSet, type, spread, same)
      if (selection.kind === 'FragmentSpread') {
        const { value } = selection.name
        const key = `${value} ${type.name} ${same}`
        if (spread.has(key)) return false
        spread.add(key)
        const fragment = document.definitions.find(
          (definition) => definition.kind === 'FragmentDefinition' && definition.name.value === value,
        )
        return (
          fragment?.kind === 'FragmentDefinition' &&
          inFragment(fragment.typeCondition.name.value, fragment.selectionSet, type, spread, same)
        )
      }
      const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[selection.name.value] : undefined
      if (!field) return false // __typename, or an answer that validation refuses
      if (field.extensions['perViewer'] === true && !same.includes(field.name)) return true
      if (selection.selectionSet === undefined) return false
      const sameBelow = field.extensions['sameForAll'] as readonly string[] | undefined
      return inSet(selection.selectionSet, getNamedType(field.type), spread, sameBelow)
    })
  }

  function inFragment(
    condition: string | undefined,
    set: SelectionSetNode,
    type: GraphQLNamedType,
    spread: Set<string>,
    same: readonly string[],
  ): boolean {
    const target = condition === undefined ? type : schema.getType(condition)
    return target !== undefined && applies(target) && inSet(set, isObjectType(target) ? target : type, spread, same)
  }

  /** A fragment on another possible answer of the root field never applies to this one. */
  function applies(target: GraphQLNamedType): boolean {
    const answered = schema.getType(typeName)
    if (!isObjectType(answered) || !isObjectType(target) || target === answered) return true
    return !answered
      .getInterfaces()
      .some((shared) => isAbstractType(shared) && schema.isSubType(shared, target) && shared.name !== 'Node')
  }
}
