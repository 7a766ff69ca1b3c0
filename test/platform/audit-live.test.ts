import { createClient } from 'graphql-sse'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { operation } from '../../src/db/operation.ts'
import { encodeId } from '../../src/graphql/ids.ts'
import { defineEvent, record } from '../../src/platform/index.ts'
import { type App, startApp } from '../support/app.ts'
import { connect, makeOrg, type Org, signIn } from './audit-world.ts'

const struck = defineEvent('bell.struck', {
  category: 'audit_only',
  payload: z.strictObject({ times: z.number(), by: z.string() }),
  projection: ({ payload }) => ({ times: payload.times }),
})
const FEED = `subscription ($after: String, $filter: AuditFilter) {
  auditFeed(after: $after, filter: $filter) { cursor event { id type payload actor { displayName } } }
}`

let app: App
let owner: pg.Client
let org: Org
let token: string

beforeAll(async () => {
  app = await startApp()
  owner = await connect(app.database.ownerUrl)
  org = await makeOrg(owner, 'acme')
  token = await signIn(owner, org.scope)
})
const leaving: (() => unknown)[] = []
afterEach(() => {
  for (const leave of leaving.splice(0)) leave()
})
afterAll(async () => {
  await owner?.end()
  await app?.close()
})

const strike = (times: number, by: Org = org) =>
  operation('write', by.scope, () => record(by.person, struck, { payload: { times, by: 'the sexton' } }))

type Item = { cursor: string; event: { id: string; type: string; payload: unknown; actor: unknown } }
type Result = { data?: { auditFeed: Item } | null; errors?: { extensions?: { code?: string; issues?: unknown } }[] }

function listen(variables: object = {}, credential = token, query = FEED): AsyncIterableIterator<Result> {
  const client = createClient({
    url: `${app.url}/graphql`,
    headers: { authorization: `Bearer ${credential}` },
    retryAttempts: 0,
  })
  leaving.push(() => client.dispose())
  return client.iterate({ query, variables: variables as never }) as AsyncIterableIterator<Result>
}

let signedIn = 0
/** Somebody else of the org, with that role. */
async function signInAs(role: 'admin' | 'viewer'): Promise<string> {
  const name = `${role}-${++signedIn}`
  const { person } = await makeOrg(owner, name)
  await owner.query(
    'INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, $3, $4, now())',
    [org.id, person.userId, role, name],
  )
  return signIn(owner, { orgId: org.id, userId: person.userId })
}

const nextOf = async (stream: AsyncIterableIterator<Result>): Promise<Item> => {
  const { value } = await stream.next()
  if (!value?.data) throw new Error(JSON.stringify(value))
  return value.data.auditFeed
}

it('PLAT-17 streams what happens, by its projection, and goes on after a break where it was', async () => {
  await strike(1)
  const stream = listen({ filter: { type: { eq: 'bell.*' } } })
  const first = stream.next()
  // Until the stream is there, what happens is not its news.
  const strokes: Promise<string>[] = []
  const striking = setInterval(() => strokes.push(strike(2)), 100)
  const item = (await first).value?.data?.auditFeed as Item
  clearInterval(striking)
  await Promise.all(strokes)
  expect(item.event).toMatchObject({ type: 'bell.struck', payload: { times: 2 }, actor: { displayName: 'acme' } })
  await stream.return?.()

  const missed = await strike(3)
  const resumed = listen({ after: item.cursor })
  const seen: string[] = []
  while (seen.at(-1) !== encodeId('AuditEvent', missed)) seen.push((await nextOf(resumed)).event.id)
  expect(new Set(seen).size).toBe(seen.length)
  expect(seen).not.toContain(item.event.id)
  const live = await strike(4)
  expect((await nextOf(resumed)).event.id).toBe(encodeId('AuditEvent', live))
})

it('PLAT-3 streams nothing of another org', async () => {
  const other = await makeOrg(owner, 'other')
  const first = await strike(1)
  // A transaction elsewhere in the cluster may still hide it.
  const cursor = await vi.waitFor(async () => {
    const { auditFeed } = await app.client(token).run('{ auditFeed(first: 100) { cursor items { event { id } } } }')
    expect(auditFeed.items.at(-1)?.event.id).toBe(encodeId('AuditEvent', first))
    return auditFeed.cursor
  }, 20_000)
  const stream = listen({ after: cursor })
  const pulled = nextOf(stream)
  await strike(5, other)
  const own = await strike(6)
  expect((await pulled).event.id).toBe(encodeId('AuditEvent', own))
})

it('PLAT-83 refuses a cursor that is none, and whoever is no admin', async () => {
  const refusal = async (variables: object, credential: string): Promise<Result> => {
    const answer = await app.client(credential).post(FEED, variables, { accept: 'text/event-stream' })
    const [, json = ''] = /^data: (.+)$/m.exec(await answer.text()) ?? []
    return JSON.parse(json) as Result
  }
  const forged = await refusal({ after: 'bm9uc2Vuc2U' }, token)
  expect(forged.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_REQUEST', issues: [{ path: ['after'] }] })
  const plain = await refusal({}, await signInAs('viewer'))
  expect(plain.errors?.[0]?.extensions?.code).toBe('FORBIDDEN')
})

it.each([FEED, 'subscription { ...Wrapped } fragment Wrapped on Subscription { ... { auditFeed { cursor } } }'])(
  'PLAT-33 ends the stream of an admin who is one no longer: %s',
  async (query) => {
    const stream = listen({}, await signInAs('admin'), query)
    const first = stream.next()
    const striking = setInterval(() => void strike(7), 100)
    await first
    clearInterval(striking)
    await owner.query(`UPDATE identity.memberships SET role = 'member' WHERE org_id = $1 AND role = 'admin'`, [org.id])
    let result: Result | undefined
    for await (const next of stream) result = next
    expect(result?.errors?.[0]?.extensions?.code).toBe('FORBIDDEN')
  },
)
