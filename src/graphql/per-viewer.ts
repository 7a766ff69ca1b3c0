import { type DocumentNode, type GraphQLSchema, isCompositeType, TypeInfo, visit, visitWithTypeInfo } from 'graphql'

/** Marks a field whose answer depends on who asks, so a shared rendering must not hold it (DESIGN §3). */
export function perViewer(description: string) {
  return { description, extensions: { perViewer: true } }
}

const answers = new WeakMap<DocumentNode, boolean>()

/** Whether a document selects any such field; then each subscriber gets a rendering of their own. */
export function isPerViewer(schema: GraphQLSchema, document: DocumentNode): boolean {
  const known = answers.get(document)
  if (known !== undefined) return known

  let found = false
  const types = new TypeInfo(schema)
  visit(
    document,
    visitWithTypeInfo(types, {
      Field() {
        if (types.getFieldDef()?.extensions['perViewer'] === true) found = true
      },
    }),
  )
  answers.set(document, found)
  return found
}

/** Fields reachable from interface selections are declared on the implementing types; the crawl test asks this. */
export function perViewerFields(schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap())
    .filter(isCompositeType)
    .flatMap((type) => ('getFields' in type ? Object.values(type.getFields()).map((field) => ({ type, field })) : []))
    .filter(({ field }) => field.extensions['perViewer'] === true)
    .map(({ type, field }) => `${type.name}.${field.name}`)
}
