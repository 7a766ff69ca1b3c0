import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AgentCaller } from '../../src/graphql/caller.ts'
import { encodeId } from '../../src/graphql/ids.ts'
import type { Json } from '../../src/lib/redact.ts'
import { newId } from '../../src/lib/type-id.ts'
import { recordToolInvocation, type ToolCall } from '../../src/platform/tool-invocations/record-tool-invocation.ts'
import { storedArguments } from '../../src/platform/tool-invocations/stored-arguments.ts'
import { pruneToolInvocations } from '../../src/platform/tool-invocations/sweep.ts'
import { type App, startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let app: App
let world: World
let caller: AgentCaller

beforeAll(async () => {
  app = await startApp({ MOOTHALL_TOOL_INVOCATION_RETENTION: '30d' })
  world = await createWorld(app)
  const { orgId, userId, keyId } = await world.agent({ name: 'builder' })
  caller = {
    kind: 'agent',
    orgId,
    userId,
    keyId,
    account: 'agent',
    standing: 'AGENT',
    embedded: false,
    name: 'builder',
    scopes: ['work:read'],
    mode: 'write',
    projectScope: 'all',
    canEditGlobalWiki: false,
    rateLimit: null,
    halt: null,
  }
}, 120_000)
afterAll(() => world.close())

const CANARY = 'c4n4ry'
const call = (more: Partial<ToolCall> = {}) =>
  recordToolInvocation(caller, {
    toolName: 'ticket_get',
    arguments: { id: 'tkt_1' },
    errorCode: null,
    durationMs: 12.4,
    requestId: newId(),
    ...more,
  })
const rowOf = async (id: string | null) =>
  (await world.sql('SELECT *, arguments::text AS text FROM platform.tool_invocations WHERE id = $1', [id]))[0]!
const eventOf = async (id: string | null) =>
  (await world.sql('SELECT * FROM platform.audit_events WHERE tool_invocation_id = $1', [id]))[0]

const LOG = `query ($filter: ToolInvocationFilter) { toolInvocations(filter: $filter) { nodes {
  id agent { name } apiKey { id } toolName arguments resultStatus errorMessage durationMs requestId createdAt } } }`

describe('the log of tool calls', () => {
  it('PLAT-21 keeps one row and one event of the same request', async () => {
    const requestId = newId()
    const id = await call({ requestId })
    expect(await rowOf(id)).toMatchObject({
      agent_id: caller.userId,
      api_key_id: caller.keyId,
      request_id: requestId,
      tool_name: 'ticket_get',
      arguments: { id: 'tkt_1' },
      result_status: 'ok',
      error_message: null,
      duration_ms: 12,
    })
    expect(await eventOf(id)).toMatchObject({
      event_type: 'agent.tool_invoked',
      category: 'audit_only',
      request_id: requestId,
      actor_kind: 'agent',
      actor_user_id: caller.userId,
      target_id: caller.userId,
      payload: { tool: 'ticket_get', status: 'ok', durationMs: 12 },
      durable: false,
      deliverable: false,
    })
  })

  it('PLAT-21 keeps refused and failed calls, of tools that do not exist too', async () => {
    const id = await call({ errorCode: 'NOT_FOUND', errorMessage: 'There is no such ticket.' })
    expect(await rowOf(id)).toMatchObject({
      result_status: 'error.NOT_FOUND',
      error_message: 'There is no such ticket.',
    })
    const odd = await call({ toolName: `DROP ${CANARY}`, errorCode: 'no code' })
    expect(await rowOf(odd)).toMatchObject({ tool_name: 'unknown', result_status: 'error.INTERNAL' })
  })

  it('PLAT-21 keeps of a call that became an action its id alone', async () => {
    const id = await call({ actionId: 'act_01h455vb4pex5vsknk084sn02q', arguments: { note: CANARY } })
    expect((await rowOf(id)).arguments).toEqual({ action: 'act_01h455vb4pex5vsknk084sn02q' })
  })

  it('PLAT-23 keeps no secret, however deep it lies and whatever it is called', async () => {
    const given = {
      kept: 'x',
      apiKey: CANARY,
      nested: [{ DB_Password: CANARY, deeper: { 'X-Authorization': { scheme: CANARY } } }],
      headers: [
        { name: 'Authorization', value: CANARY },
        { key: 'set-cookie', values: [CANARY] },
      ],
      pairs: [['Cookie', CANARY]],
      body: JSON.stringify({ inner: JSON.stringify({ client_secret: CANARY }) }),
      note: `curl -H "Authorization: Bearer ${CANARY}" https://user:${CANARY}@example.org mhs_${CANARY}A`,
    }
    const id = await call({ arguments: given, errorCode: 'INTERNAL', errorMessage: `{"token":"${CANARY}"} refused` })
    const row = await rowOf(id)
    expect(JSON.stringify(row)).not.toContain(CANARY)
    expect(row.arguments).toMatchObject({ kept: 'x', apiKey: '<redacted>' })
    expect(row.error_message).toBe('{"token":"<redacted>"} refused')
    expect(JSON.stringify(await eventOf(id))).not.toContain(CANARY)
    expect(app.log()).not.toContain(CANARY)
  })

  it('PLAT-24 redacts before it cuts, so no cut hides a secret from the redactor', () => {
    for (let lead = 230; lead < 260; lead++) {
      const text = `${'x'.repeat(lead)} mhs_c4n4ryc4n4ry ${'y'.repeat(5000)}`
      expect(JSON.stringify(storedArguments({ text }))).not.toContain('c4n4')
      const json = JSON.stringify({ pad: 'x'.repeat(lead), password: 'c4n4ry', rest: 'y'.repeat(5000) })
      expect(JSON.stringify(storedArguments({ json }))).not.toContain('c4n4')
    }
  })

  it('PLAT-24 keeps at most 4 KiB, to the byte and between code points', async () => {
    const shapes: Json[] = [
      { text: '😀'.repeat(3000) },
      { text: 'é'.repeat(2039) },
      { text: 'é'.repeat(2041) },
      Array(3000).fill(1),
      Array(700).fill({ a: 1, b: 'é' }),
      Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`k${at}`, at])),
      Array(400).fill(1e300),
      { '\0': '\0'.repeat(5000), half: '\ud83d' },
      'x'.repeat(5000),
      null,
    ]
    for (const given of shapes) {
      const id = await call({ arguments: given })
      const { text, arguments: kept } = await rowOf(id)
      expect(Buffer.byteLength(text as string)).toBeLessThanOrEqual(4096)
      expect(kept).toEqual(storedArguments(given))
    }
    for (let length = 1_990; length < 2_050; length++) {
      const given = { a: 'x', text: 'é'.repeat(length) }
      const { text } = await rowOf(await call({ arguments: given }))
      const fits = Buffer.byteLength(`{"a": "x", "text": "${'é'.repeat(length)}"}`) <= 4096
      expect((text as string).includes('<truncated>')).toBe(!fits)
    }
    const { error_message: message } = await rowOf(await call({ errorCode: 'X', errorMessage: '😀'.repeat(600) }))
    expect(Buffer.byteLength(message as string)).toBeLessThanOrEqual(1024)
    expect(message).toMatch(/^(😀)+<truncated>$/u)
  })

  it('PLAT-21 fails nothing when it cannot be written, and says so', async () => {
    const lost = { ...caller, userId: newId() }
    const id = await recordToolInvocation(lost, {
      toolName: 'ticket_get',
      arguments: {},
      errorCode: null,
      durationMs: 1,
      requestId: newId(),
    })
    expect(id).toBeNull()
    expect(app.log()).toContain('a tool call could not be recorded')
    const metrics = await (await fetch(`${app.url}/metrics`)).text()
    expect(metrics).toMatch(/^moothall_tool_calls_unrecorded_total 1$/m)
  })

  it('ID-6 shows the log to owners, admins and admin keys, and to nobody else', async () => {
    const id = await call({ toolName: 'wiki_get' })
    const globalId = encodeId('ToolInvocation', id!)
    const { nodes } = (await world.owner.run(LOG, { filter: { toolName: { eq: 'wiki_get' } } })).toolInvocations
    expect(nodes).toEqual([
      expect.objectContaining({
        id: globalId,
        agent: { name: 'builder' },
        apiKey: { id: encodeId('ApiKey', caller.keyId) },
        toolName: 'wiki_get',
        arguments: { id: 'tkt_1' },
      }),
    ])
    const [room, stranger, admin, key] = await Promise.all([
      world.pokerRoom(),
      world.otherOrg(),
      world.member({ role: 'admin' }),
      world.adminKey(),
    ])
    const node = `{ node(id: "${globalId}") { id } }`
    for (const reader of [admin, key]) {
      expect((await reader.run(LOG)).toolInvocations.nodes.length).toBeGreaterThan(0)
      expect((await reader.run(node)).node).toEqual({ id: globalId })
    }
    expect((await stranger.run(LOG)).toolInvocations.nodes).toEqual([])
    expect((await stranger.run(node)).node).toBeNull()
    const others = await Promise.all([
      world.member(),
      world.viewer(),
      world.anonymous(),
      world.embedded(),
      world.guest(room.room),
      world.agent(),
    ])
    for (const other of others) {
      const refused = await other.send(LOG)
      expect([refused.data?.toolInvocations ?? null, refused.errors?.[0]?.extensions.code]).toEqual([null, 'FORBIDDEN'])
      expect((await other.run(node)).node).toBeNull()
    }
  })

  it('PLAT-20 filters by agent, key, status, request and time, and refuses what it does not know', async () => {
    const requestId = newId()
    await call({ requestId, errorCode: 'FORBIDDEN' })
    const find = async (filter: object) => (await world.owner.run(LOG, { filter })).toolInvocations.nodes.length
    expect(await find({ requestId: { eq: requestId } })).toBe(1)
    expect(await find({ requestId: { eq: requestId }, resultStatus: { eq: 'ok' } })).toBe(0)
    expect(await find({ requestId: { eq: requestId }, resultStatus: { prefix: 'error.' } })).toBe(1)
    expect(await find({ agent: { eq: encodeId('Agent', newId()) } })).toBe(0)
    expect(await find({ agent: { eq: encodeId('Agent', caller.userId) }, requestId: { eq: requestId } })).toBe(1)
    expect(await find({ apiKey: { neq: encodeId('ApiKey', caller.keyId) } })).toBe(0)
    expect(await find({ createdAt: { lt: '2020-01-01T00:00:00Z' } })).toBe(0)
    const foreign = await world.owner.send(LOG, { filter: { agent: { eq: encodeId('User', caller.userId) } } })
    expect(foreign.errors![0]!.extensions.code).toBe('BAD_REQUEST')
  })

  it('PLAT-22 drops calls after their time; the event stays and leads to none', async () => {
    const [old, recent] = [await call(), await call()]
    await world.sql(
      `UPDATE platform.tool_invocations SET created_at = now() - interval '30 days 1 second' WHERE id = $1`,
      [old],
    )
    await world.sql(`UPDATE platform.tool_invocations SET created_at = now() - interval '29 days' WHERE id = $1`, [
      recent,
    ])
    const asked = `query ($id: ID!) { node(id: $id) { ... on AuditEvent { type payload toolInvocation { id } } } }`
    const event = async (id: string | null) =>
      (await world.owner.run(asked, { id: encodeId('AuditEvent', (await eventOf(id))!.id as string) })).node
    expect((await event(old)).toolInvocation).toEqual({ id: encodeId('ToolInvocation', old!) })

    expect(await pruneToolInvocations()).toBe(1)

    expect(await event(old)).toEqual({
      type: 'agent.tool_invoked',
      payload: { tool: 'ticket_get', status: 'ok', durationMs: 12 },
      toolInvocation: null,
    })
    expect((await event(recent)).toolInvocation).not.toBeNull()
  })
})
