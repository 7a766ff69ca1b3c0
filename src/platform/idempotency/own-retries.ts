import { type DocumentNode, Kind, type OperationDefinitionNode, type SelectionSetNode } from 'graphql'
import { requestError } from '../../graphql/request-errors.ts'

/** Mutations whose retries the gate treats by itself (GATE-24, 81, 82, 85). */
const OWN_RETRIES = new Set(['actionSubmit', 'actionBegin', 'actionReportResult', 'actionCancel'])

/**
 * Whether the document's retries are somebody else's matter (PLAT-49). Such a field stands alone under a key: its
 * neighbours would run again with it.
 */
export function treatsItsRetries(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  const fields = new Map<string, string>()
  collect(document, operation.selectionSet, fields, new Set())
  if (!fields.values().some((name) => OWN_RETRIES.has(name))) return false
  if (fields.size === 1) return true
  throw requestError('BAD_REQUEST', { message: `Under an idempotency key ${[...OWN_RETRIES].join(', ')} stand alone.` })
}

/** The root fields by response name, through fragments, whatever their directives leave of them. */
function collect(
  document: DocumentNode,
  { selections }: SelectionSetNode,
  fields: Map<string, string>,
  seen: Set<string>,
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) fields.set((selection.alias ?? selection.name).value, selection.name.value)
    else if (selection.kind === Kind.INLINE_FRAGMENT) collect(document, selection.selectionSet, fields, seen)
    else if (!seen.has(selection.name.value)) {
      seen.add(selection.name.value)
      for (const definition of document.definitions) {
        const isSpread = definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value
        if (isSpread) collect(document, definition.selectionSet, fields, seen)
      }
    }
  }
}
