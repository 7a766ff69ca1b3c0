import { expect, it } from 'vitest'
import { meets, type Need } from '../../src/graphql/caller.ts'
import { schema } from '../../src/schema.ts'

/** Root fields of rooms, by how they begin. */
const ROOMS = /^(space|room|story|vote|deck|standup|commitment|kudos|mention|away|my(Ahead|Away))/
/** Whoever holds a link acts as nobody, or stays who they are and sees what they saw. */
const OF_NOBODY = ['roomLinkRedeem']

const roots = [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!].flatMap((type) =>
  Object.values(type.getFields()).map((field) => ({ kind: type.name, field })),
)
type Asked = { needs?: Need; scope?: string }
const askedBy = ({ extensions }: (typeof roots)[number]['field']): Asked => {
  const { pothosOptions, ...own } = extensions as Asked & { pothosOptions?: { authScopes?: Asked } }
  return { ...pothosOptions?.authScopes, ...own }
}
const admitsAgents = ({ needs = 'anyone' }: Asked) => meets(needs, { kind: 'agent', standing: 'AGENT' } as never)

it('ID-44 every root field of rooms that agents may ask wants the scope of reading or of writing rooms', () => {
  const fields = roots
    .filter(({ field }) => ROOMS.test(field.name) && !OF_NOBODY.includes(field.name) && admitsAgents(askedBy(field)))
    .map(({ kind, field }) => ({ kind, name: field.name, scope: askedBy(field).scope }))
  expect(fields.length).toBeGreaterThan(25)
  expect(fields).toEqual(
    fields.map(({ kind, name }) => ({ kind, name, scope: kind === 'Mutation' ? 'rooms:write' : 'rooms:read' })),
  )
})
