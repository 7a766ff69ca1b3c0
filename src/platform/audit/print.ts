import { type Shape, shapeOfPayload } from './node-ids.ts'
import { payloadAsRecorded } from './projection.ts'
import type { AnyEventType } from './registry.ts'

const HEAD = `# Events

Every change of a fact leaves one event in the audit log, in the transaction that made it. This list is printed from the
code by \`npm run events\`.

- **activity** events show in the activity feed of those whom their space, room or project concerns; **audit only** ones to
  owners and admins alone, in \`auditEvents\` and \`auditFeed\`.
- **deliverable** events go to webhooks and plugins; **durable** ones outlive the purge of their org.
- The payload is shown in full by \`auditEvents\` alone. *Projected*: everybody else gets what the type's projection makes
  of it.
- \`ID<User>\` is the global id of a User, \`usr_…\`, as fields and arguments of that type have it.
`

/** The registry as a document for integrators (PLAT-12). */
export function printEventTypes(types: readonly AnyEventType[]): string {
  const groups = Map.groupBy(types, ({ name }) => name.slice(0, name.indexOf('.')))
  const sections = [...groups].map(([group, members]) => `## ${group}\n\n${members.map(printType).join('\n')}`)
  return [HEAD, ...sections].join('\n')
}

function printType({ name, category, durable, deliverable, projection, payload, description }: AnyEventType): string {
  const marks = [
    category === 'activity' ? 'activity' : 'audit only',
    ...(deliverable ? ['deliverable'] : []),
    ...(durable ? ['durable'] : []),
    ...(projection === payloadAsRecorded ? [] : ['projected']),
  ].join(', ')
  return `### ${name}\n\n${marks}\n${description && `\n${description}\n`}\n\`\`\`ts\n${printShape(shapeOfPayload(payload))}\n\`\`\`\n`
}

/** A JSON schema in the notation of TypeScript. */
export function printShape(shape: Shape): string {
  const { type, node, enum: values, anyOf, oneOf, items } = shape
  if (node) return `ID<${node}>`
  if ('const' in shape) return JSON.stringify(shape.const)
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  const variants = anyOf ?? oneOf
  if (variants) return variants.map(printShape).join(' | ')
  if (type === 'array') return printList(items ?? {})
  if (type === 'object') return printObject(shape)
  return [type ?? 'unknown'].flat().join(' | ').replace('integer', 'number')
}

function printList(items: Shape): string {
  const item = printShape(items)
  return item.includes(' ') ? `(${item})[]` : `${item}[]`
}

function printObject({ properties = {}, required = [], additionalProperties }: Shape): string {
  const members = Object.entries(properties).map(
    ([name, member]) => `${name}${required.includes(name) ? '' : '?'}: ${printShape(member)}`,
  )
  if (typeof additionalProperties === 'object') members.push(`[key: string]: ${printShape(additionalProperties)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
