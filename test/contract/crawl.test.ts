import { getNamedType, isRequiredArgument } from 'graphql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
import { type Caller, type CrawlWorld, createCrawlWorld } from './crawl-world.ts'
import { Crawler } from './crawler.ts'
import { absentOf } from './planted.ts'
import { NODE_TYPES, SCHEMA } from './schema-walk.ts'

const MINUTE = 60_000
const CALLERS = [
  'owner',
  'admin',
  'member',
  'viewer',
  'loner',
  'both',
  'anonymous',
  'drifter',
  'meeting',
  'guest',
  'robot',
  'program',
  'former',
  'nobody',
] as const

/** Words of a list, hashes, settings, payloads (ROOM-8): columns of text in which nobody writes. */
const NO_WRITING = [
  'identity.agents.intent_mode',
  'identity.agents.kind',
  'identity.agents.mode',
  'identity.agents.project_scope',
  'identity.agents.status',
  'identity.api_keys.mode',
  'identity.api_keys.prefix',
  'identity.api_keys.scopes',
  'identity.embed_handoffs.client_key',
  'identity.embed_handoffs.display_code',
  'identity.embed_handoffs.provider',
  'identity.login_tokens.purpose',
  'identity.memberships.role',
  'identity.orgs.api_version',
  'identity.orgs.status',
  'identity.orgs.time_zone',
  'identity.sessions.method',
  'identity.sessions.revoke_reason',
  'identity.users.account',
  'identity.users.status',
  'identity.users.type',
  'platform._prisma_migrations.logs',
  'platform.audit_events.actor_kind',
  'platform.audit_events.category',
  'platform.audit_events.event_type',
  'platform.audit_events.payload',
  'platform.audit_events.target_kind',
  'platform.idempotency_keys.committed_fields',
  'platform.idempotency_keys.response_headers',
  'platform.idempotency_keys.state',
  'platform.rate_limits.key',
  'platform.tool_invocations.result_status',
  'platform.webhook_attempts.status',
  'platform.webhook_deliveries.locked_by',
  'platform.webhook_deliveries.state',
  'platform.webhooks.api_version',
  'platform.webhooks.disabled_reason',
  'platform.webhooks.event_types',
  'platform.webhooks.kek_id',
  'platform.webhooks.secret_hint',
  'rooms.room_events.audience',
  'rooms.room_events.type',
  'rooms.room_kinds.actions',
  'rooms.room_kinds.provider',
  'rooms.rooms.kind',
  'rooms.rooms.phase',
  'rooms.rooms.state',
  'rooms.rooms.timer_on_end',
  'rooms.space_members.role',
  'rooms.standup_commitments.closed_reason',
  'rooms.standup_entry_reactions.emoji',
  'rooms.standup_schedule_slots.outcome',
  'rooms.standup_schedules.locked_by',
  'rooms.standup_schedules.weekdays',
]

let crawl: CrawlWorld
beforeAll(async () => {
  crawl = await createCrawlWorld(await startApp())
}, MINUTE)
afterAll(() => crawl?.world.close())

const callerOf = (name: string): Caller => crawl.callers.find((caller) => caller.name === name)!

it('PLAT-31 every type of node stands in a space, in another one and in another org', () => {
  const plantedIn = (...names: string[]) => {
    const ids = crawl.planted.ids((realm) => names.includes(realm.replace(/^\w+:/, '')))
    return [...new Set(ids.map(({ type }) => type))].toSorted()
  }
  const ofSpaces = NODE_TYPES.filter((type) => type !== 'Org').toSorted()
  expect(plantedIn('home', 'home.room', 'member', 'robot')).toEqual(ofSpaces)
  expect(plantedIn('other')).toEqual(ofSpaces)
  expect(plantedIn('strange', 'stranger')).toEqual(NODE_TYPES.toSorted())
})

it('PLAT-31 every column of text holds what is planted, or nothing that people write', async () => {
  const columns = await crawl.world.sql<{ name: string; column: string }>(
    `SELECT table_schema || '.' || table_name AS name, column_name AS column FROM information_schema.columns
     JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema IN ('identity', 'rooms', 'work', 'gate', 'plugins', 'platform') AND table_type = 'BASE TABLE'
       AND data_type IN ('text', 'ARRAY', 'jsonb') ORDER BY 1, 2`,
  )
  const unplanted: string[] = []
  for (const { name, column } of columns) {
    const [row] = await crawl.world.sql(`SELECT FROM ${name} WHERE ${column}::text LIKE '%zq%' LIMIT 1`)
    if (!row) unplanted.push(`${name}.${column}`)
  }
  expect(unplanted).toEqual(NO_WRITING)
})

it.each(CALLERS)(
  'PLAT-31 no relation leads out of what is theirs: %s',
  async (name) => {
    const crawler = new Crawler(crawl, callerOf(name))
    await crawler.followAll()
    expect(crawler.leaks).toEqual([])
    // The walk came to all that is theirs, so it would have come to what is not.
    const { sees } = callerOf(name)
    const own = crawl.planted.items.filter(
      ({ realm, what }) =>
        sees.has(realm) && !what.endsWith('.uuid') && !/:(?!NAME$)/.test(realm.replace(name, 'NAME')),
    )
    expect(own.filter(({ text }) => !crawler.seen.has(text))).toEqual([])
  },
  MINUTE,
)

it.each(CALLERS)('ROOM-6 an id of elsewhere is as good as none: %s', async (name) => {
  const { client } = callerOf(name)
  const ids = new Crawler(crawl, callerOf(name)).foreignIds()
  expect(ids.length).toBeGreaterThan(10)
  for (let at = 0; at < ids.length; at += 20) {
    const some = ids.slice(at, at + 20)
    const fields = some.map((_, n) => `n${n}: node(id: $n${n}) { __typename id }`)
    const query = `query (${some.map((_, n) => `$n${n}: ID!`)}) { ${fields.join(' ')} }`
    const asked = (of: 'id' | 'absent') => Object.fromEntries(some.map((each, n) => [`n${n}`, each[of]]))
    const foreign = await client.send(query, asked('id'))
    expect(Object.values(foreign.data ?? {}).filter((node) => node !== null)).toEqual([])
    expect(said(foreign)).toBe(said(await client.send(query, asked('absent'))))
  }
  const list = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }'
  const foreign = await client.send(list, { ids: ids.map(({ id }) => id) })
  expect((foreign.data?.nodes ?? []).filter((node: unknown) => node !== null)).toEqual([])
  expect(said(foreign)).toBe(said(await client.send(list, { ids: ids.map(({ absent }) => absent) })))
})

it.each(CALLERS)(
  'ROOM-6 an argument that names what is elsewhere finds what one that names nothing does: %s',
  async (name) => {
    const crawler = new Crawler(crawl, callerOf(name))
    const telling = await crawler.nameForeign()
    expect(crawler.leaks).toEqual([])
    expect(telling).toEqual([])
  },
  MINUTE,
)

it.each(CALLERS)('ROOM-6 no stream opens on what is elsewhere: %s', async (name) => {
  const ids = new Crawler(crawl, callerOf(name)).foreignIds()
  for (const { name: field, args } of Object.values(SCHEMA.getSubscriptionType()!.getFields())) {
    const required = args.filter(isRequiredArgument)
    if (required.length === 0) continue
    const [argument] = required
    if (required.length > 1 || getNamedType(argument!.type).name !== 'ID') throw new Error(`no value for ${field}`)
    const query = `subscription ($id: ID!) { ${field}(${argument!.name}: $id) { __typename } }`
    for (const type of NODE_TYPES) {
      for (const { id } of ids.filter((each) => each.type === type).slice(0, 3)) {
        const opened = await stream(callerOf(name), query, id)
        expect(opened).toMatch(/"errors"/)
        expect(opened).toBe(await stream(callerOf(name), query, absentOf(type)))
      }
    }
  }
})

it('PLAT-5 many look-ups of several types in one document answer each', async () => {
  const { client, sees } = callerOf('owner')
  const own = crawl.planted.ids((realm) => sees.has(realm))
  const nth = (n: number) => NODE_TYPES.flatMap((type) => own.filter((each) => each.type === type).slice(n, n + 1))
  const some = [...nth(0), ...nth(1)].slice(0, 20) // as many root fields as there may be
  const { data, errors } = await client.send(
    `{ ${some.map(({ id }, n) => `n${n}: node(id: "${id}") { id }`).join(' ')} }`,
  )
  expect(errors).toBeUndefined()
  expect(Object.values(data)).toEqual(some.map(({ id }) => ({ id })))
})

const said = ({ data, errors }: Answer): string => JSON.stringify({ data, errors })

/** Everything that an event stream carries until it ends; one that stays open fails. */
async function stream({ client }: Caller, query: string, id: string): Promise<string> {
  const answer = await fetch(client.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...(client.token && { authorization: `Bearer ${client.token}` }),
    },
    body: JSON.stringify({ query, variables: { id } }),
    signal: AbortSignal.timeout(10_000),
  })
  return `${answer.status} ${await answer.text()}`
}
