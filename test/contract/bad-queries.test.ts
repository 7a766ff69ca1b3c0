import { getNamedType, isLeafType, isObjectType, isRequiredArgument } from 'graphql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
import { type Bad, badValuesOf } from './bad-values.ts'
import { digestOf } from './digest.ts'
import { inParallel } from './in-parallel.ts'
import { withSchedule } from './play-schedule.ts'
import { withWebhook } from './play-webhook.ts'
import { faultOfAnswer, faultOfErrors } from './refusal.ts'
import {
  type FieldPath,
  fieldAt,
  fieldsWithArguments,
  nameOf,
  SCHEMA,
  type Slot,
  slotsOf,
  withValue,
} from './schema-walk.ts'
import { type Play, Stage } from './stage.ts'

const MINUTE = 60_000
const QUERY = SCHEMA.getQueryType()!
const WAYS = fieldsWithArguments(QUERY).map((way) => ({ way, name: way.map(({ field }) => field).join('.') }))

const isPaged = (way: FieldPath[]) =>
  ['first', 'last'].every((name) => fieldAt(way.at(-1)!).args.some((a) => a.name === name))

/** Values that look odd and are right there, by the place that declares it. */
const RIGHT: readonly [declared: RegExp, kinds: RegExp][] = [
  // As if it were left out.
  [/^(Query|Space|StandupSchedule|Viewer|Webhook)\.\w+\.(first|last|after|before|filter)$/, /^null$/],
  [/^Query\.(webhooks\.spaceId|apiKeys\.agentId)$/, /^null$/],
  [/^Subscription\.\w+\.(after|filter|connectionId|sinceVersion)$/, /^null$/],
  // Any node will do.
  [/^(Query\.node\.id|Query\.nodes\.ids\[\])$/, /^another type/],
  // Is a name, as good as any.
  [/^Query\.spaces\.(after|before)$/, /^a cursor of \["2026-02-30/],
  [/^Query\.members\.(after|before)$/, /^a cursor of \["zqbad"\]$/],
  // Text that may be there in a row.
  [/^StringFilter\./, /^(empty|blank)$/],
  // Every type begins with nothing.
  [/^EventTypeFilter\.prefix$/, /^empty$/],
]

let stage: Stage
let play: Play
beforeAll(async () => {
  stage = await Stage.open(await startApp())
  play = await stage.play()
  await withWebhook(stage.world, play)
  await withSchedule(stage.world, play)
}, MINUTE)
afterAll(() => stage?.world.close())

/** The arguments of root fields that lead somewhere. */
const leading = (field: string, argument?: string): Record<string, unknown> => {
  const known: Record<string, object> = {
    node: { id: play.room.id },
    nodes: { ids: [play.room.id] },
    room: { id: play.room.id },
    roomCsv: { roomId: play.room.id },
    standupTrend: { spaceId: play.space.id },
    myAhead: { spaceId: play.space.id },
    commitments: { spaceId: play.space.id },
    agent: argument === 'name' ? { name: 'nobody' } : { id: play.agentId },
    webhook: { id: play.webhookId },
    webhookDeliveries: { webhookId: play.webhookId },
    loginTokenPreview: { token: 'of-nobody' },
    member: argument === 'username' ? { username: 'nobody' } : { userId: play.member.id },
    space: argument === 'slug' ? { slug: play.space.slug } : { id: play.space.id },
    roomEvents: { roomId: play.room.id },
  }
  return (known[field] ?? {}) as Record<string, unknown>
}

it('PLAT-58 every field that demands an argument is given one that fits', async () => {
  for (const { name, args } of Object.values(QUERY.getFields())) {
    const demanded = args.filter(isRequiredArgument).map((argument) => argument.name)
    expect(Object.keys(leading(name)), name).toEqual(expect.arrayContaining(demanded))
  }
  for (const { way, name } of WAYS) {
    const { errors } = await ask(way, way.length === 1 ? leading(name) : {})
    expect(errors, name).toBeUndefined()
  }
})

it.each(WAYS)(
  'PLAT-58, PLAT-59, PLAT-83 $name takes nothing that does not belong in its arguments',
  async ({ way }) => {
    const { type, field } = way.at(-1)!
    const before = await digestOf(stage.world)
    const faults: string[] = []
    await inParallel(casesOf(type, field), async ({ slot, kind, value, byType }) => {
      const base = way.length === 1 ? leading(field, slot.path[0]) : {}
      const answer = await ask(way, withValue(base, slot, value))
      const fault = answer.fault ?? faultOfErrors(answer.errors, byType ? undefined : value)
      if (fault) faults.push(`${nameOf(field, slot)}, ${kind}, ${fault}`)
    })
    expect(faults).toEqual([])
    expect(await digestOf(stage.world)).toEqual(before)
  },
  MINUTE,
)

it.each(WAYS.filter(({ way }) => isPaged(way)))('PLAT-83 $name pages one way at a time', async ({ way }) => {
  for (const both of [{ first: 1, last: 1 }, { first: 101 }, { last: 101 }, { last: 0 }]) {
    const { errors, fault } = await ask(way, { ...(way.length === 1 && leading(way[0]!.field)), ...both })
    expect(fault).toBeNull()
    expect(errors, JSON.stringify(both)).toMatchObject([{ extensions: { code: 'BAD_REQUEST', issues: [{}] } }])
  }
})

it.each(Object.values(SCHEMA.getSubscriptionType()!.getFields()).map(({ name }) => name))(
  'PLAT-58, PLAT-83 a stream of %s opens with nothing that does not belong in its arguments',
  async (field) => {
    const before = await digestOf(stage.world)
    const faults: string[] = []
    // What a filter holds is read by the one reader that the query of that name has.
    const cases = casesOf('Subscription', field).filter(({ slot }) => slot.path.length === 1)
    await inParallel(cases, async ({ slot, kind, value, byType }) => {
      const fault = await faultOfStream(field, withValue(leading(field), slot, value), byType ? undefined : value)
      if (fault) faults.push(`${nameOf(field, slot)}, ${kind}, ${fault}`)
    })
    expect(faults).toEqual([])
    expect(await digestOf(stage.world)).toEqual(before)
  },
  MINUTE,
)

function casesOf(type: string, field: string): ({ slot: Slot } & Bad)[] {
  return slotsOf(`${type}.${field}`, fieldAt({ type, field }).args).flatMap((slot) => {
    const own = withOwn(field, slot)
    return badValuesOf(nameOf(field, slot), slot, own)
      .filter(({ kind }) => !RIGHT.some(([at, kinds]) => at.test(slot.declared) && kinds.test(kind)))
      .filter(({ kind }) => !(isOfAnyNode(slot) && kind.startsWith('another type')))
      .map((bad) => ({ slot, ...bad }))
  })
}

/** An id of the type that the slot takes, where it takes one. */
function withOwn(field: string, { path }: Slot): unknown {
  if (path.includes('webhookId') || field === 'webhook') return play.webhookId
  if (path.includes('spaceId') || field === 'space') return play.space.id
  if (path.includes('actor') || path.includes('userId')) return play.member.id
  return play.room.id
}

/** What an event was done to can be any node. */
const isOfAnyNode = ({ path }: Slot) => path.includes('targetId')

type Asked = Answer & { fault: string | null }

/** The field at the end of the way with these arguments, as an owner of org and space. */
async function ask(way: readonly FieldPath[], args: Record<string, unknown>): Promise<Asked> {
  const { text, variables } = documentOf('query', way, args)
  const answer = await play.deputy.client.post(text, variables)
  const body = await answer.text()
  return { ...(JSON.parse(body) as Answer), fault: faultOfAnswer(answer.status, body) }
}

function documentOf(operation: string, way: readonly FieldPath[], args: Record<string, unknown>) {
  const variables: Record<string, unknown> = {}
  const declared: string[] = []
  const call = (step: FieldPath, given: Record<string, unknown>, at: number) => {
    const passed = Object.entries(given).map(([name, value]) => {
      variables[`${name}${at}`] = value
      declared.push(`$${name}${at}: ${fieldAt(step).args.find((argument) => argument.name === name)!.type}`)
      return `${name}: $${name}${at}`
    })
    return step.field + (passed.length > 0 ? `(${passed.join(', ')})` : '')
  }
  const last = way.at(-1)!
  const type = getNamedType(fieldAt(last).type)
  // A page is not read before something of it is asked for.
  const inner = isLeafType(type)
    ? ''
    : isObjectType(type) && type.getFields()['edges']
      ? '{ edges { cursor } }'
      : '{ __typename }'
  const text = way
    .slice(0, -1)
    .reduceRight(
      (rest, step, at) => `${call(step, leading(step.field), at)} { ${rest} }`,
      `${call(last, args, 9)} ${inner}`,
    )
  return { text: `${operation} ${declared.length > 0 ? `(${declared.join(', ')})` : ''} { ${text} }`, variables }
}

/** What is wrong with how a stream was refused; one that opens does not end, and that is wrong. */
async function faultOfStream(field: string, args: Record<string, unknown>, value: unknown): Promise<string | null> {
  const { text, variables } = documentOf('subscription', [{ type: 'Subscription', field }], args)
  const { url, token } = play.deputy.client
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${token}` }
  const signal = AbortSignal.timeout(5_000)
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: text, variables }),
      signal,
    })
    const body = await answer.text()
    const [, told] = /^data: ?(\{.*)$/m.exec(body) ?? []
    return faultOfAnswer(answer.status, body) ?? faultOfErrors((JSON.parse(told ?? '{}') as Answer).errors, value)
  } catch (error) {
    return signal.aborted ? 'opens' : String(error)
  }
}
