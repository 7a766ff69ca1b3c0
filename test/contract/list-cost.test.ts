import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

const FEW = 2
const MANY = 10

let world: World
const statements: string[] = []

beforeAll(async () => {
  world = await createWorld(await startApp({ MOOTHALL_EGRESS_ALLOW: '127.0.0.0/8' }))
  const { owner } = world
  const admins = await Promise.all(Array.from({ length: MANY }, () => world.member({ role: 'admin' })))
  for (const [at, admin] of admins.entries()) {
    const { agent } = await admin.mutate('agentCreate', { name: `agent-${at}` }, 'agent { id user { id } }')
    const { apiKey } = await admin.mutate(
      'apiKeyCreate',
      { agentId: agent.id, name: 'k', scopes: ['WORK_READ'] },
      'apiKey { id }',
    )
    await admin.mutate('apiKeyRotate', { id: apiKey.id, graceMinutes: 60 })
    await admin.mutate('webhookCreate', { url: `https://127.0.0.1/${at}`, eventTypes: ['*'] })
    await admin.mutate('spaceCreate', { name: `Space ${at}`, slug: `space-${at}` })
    const { orgId } = admin
    const [row] = await world.sql<{ id: string; key: string }>(
      `SELECT a.id, k.id AS key FROM identity.agents a JOIN identity.api_keys k ON k.agent_id = a.id
       WHERE a.org_id = $1 AND a.name = $2 LIMIT 1`,
      [orgId, `agent-${at}`],
    )
    await world.sql(
      `INSERT INTO platform.tool_invocations (org_id, agent_id, api_key_id, tool_name, arguments, result_status, duration_ms)
       VALUES ($1, $2, $3, 'tool', '{}', 'ok', 1)`,
      [orgId, row!.id, row!.key],
    )
    await world.signIn(admin)
    await owner.mutate('memberInvite', { email: `guest-${at}@example.org`, role: 'MEMBER' })
  }
  // What they are owed waits, so that no worker reads beside the requests.
  await world.sql(`UPDATE platform.webhooks SET is_active = false, disabled_reason = 'manual' WHERE org_id = $1`, [
    world.org.id,
  ])
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text?: string }]
    statements.push(typeof statement === 'string' ? statement : (statement.text ?? ''))
    return query.apply(this, args)
  } as never)
})
afterAll(() => world.close())

const TARGET =
  'target { id ... on User { displayName email } ... on Agent { name user { displayName } } ... on Space { name } ... on ApiKey { name } ... on Webhook { url } }'
const EVENT = 'id type cursor payload actor { displayName email } apiKey { name } toolInvocation { id }'
const AGENTS_MADE: string = ', filter: { type: { eq: "agent.created" } }'
const KEY = 'id agent { name } replacedBy { id } revokedBy { id } createdBy { displayName email } createdByKey { id }'
const AGENT =
  'id user { displayName email agent { name } } projectIds labels { name } intentKeys { createdBy { id } } createdBy { id email }'

/** What runs beside a request asks by functions of its own. */
const BESIDE = /\b(?:claim|maint|preauth)_|pg_notify|_prisma_migrations/
it.each([
  ['agents', `nodes { ${AGENT} }`],
  ['apiKeys', `nodes { ${KEY} }`],
  ['members', 'nodes { role email user { displayName email } }'],
  ['orgSessions', 'nodes { id ip user { displayName email } }'],
  [
    'webhooks',
    `nodes { url createdBy { displayName email } deliveries(first: 2) { totalCount nodes { event { ${EVENT} } attempts { attempt } } } }`,
  ],
  ['toolInvocations', 'nodes { id agent { name user { email } } apiKey { name } }'],
  ['auditEvents', `nodes { ${EVENT} }`],
  ['activity', `nodes { ${EVENT} }`],
  ['auditFeed', `items { event { ${EVENT} } }`],
  // Of one kind, whose targets are of one type.
  ['auditEvents', `nodes { ${TARGET} }`, AGENTS_MADE],
  ['activity', `nodes { ${TARGET} }`, AGENTS_MADE],
] as const)('PLAT-61 reads ten of %s without a statement for each', async (list, selection, filter = '') => {
  const document = `query ($first: Int) { ${list}(first: $first${filter}) { ${selection} } }`
  const costOf = async (first: number) => {
    statements.length = 0
    const answer = await world.owner.run(document, { first })
    expect(answer[list].nodes ?? answer[list].items).toHaveLength(first)
    return statements.filter((text) => text.startsWith('SELECT') && !BESIDE.test(text)).length
  }
  const few = await costOf(FEW)
  expect(few).toBeGreaterThan(0)
  // Kinds of events differ in what their payloads are made of, so a few more are fine.
  expect((await costOf(MANY)) - few).toBeLessThan((MANY - FEW) / 2)
})
