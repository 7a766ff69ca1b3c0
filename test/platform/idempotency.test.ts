import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { encodeId } from '../../src/graphql/ids.ts'
import { pruneIdempotencyKeys } from '../../src/platform/idempotency/sweep.ts'
import type { Asker, TestRoom } from '../support/actor.ts'
import { type App, startApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
import { newKey, STORY_ADD, sendKeyed } from '../support/keyed.ts'
import { createWorld, type World } from '../support/world.ts'

let app: App
let world: World
let room: TestRoom
let host: Asker

beforeAll(async () => {
  app = await startApp({ MOOTHALL_IDEMPOTENCY_TTL: '2h' })
  world = await createWorld(app)
  ;({ room, host } = await world.pokerRoom())
}, 120_000)
afterAll(() => world.close())

const send = (actor: Asker, key: string, document: string, variables?: object) =>
  sendKeyed(actor.client, key, document, variables)
const add = (actor: Asker, key: string, title: string, document = STORY_ADD) =>
  send(actor, key, document, { input: { roomId: room.id, title } })
const stories = async (title: string) =>
  Number((await world.sql('SELECT count(*) FROM rooms.stories WHERE title = $1', [title]))[0]!.count)
const rowOf = async (key: string) =>
  (
    await world.sql<{ state: string; committed_fields: string[] }>(
      'SELECT * FROM platform.idempotency_keys WHERE key = $1',
      [key],
    )
  )[0]
const codeOf = ({ body }: { body: Answer }) => body.errors?.[0]?.extensions.code

describe('a request under an idempotency key', () => {
  it('PLAT-52 is answered again as the first time, without a second effect', async () => {
    const key = newKey()
    const first = await add(host, key, 'once')
    const again = await add(host, key, 'once')

    expect(first).toMatchObject({ status: 200, replayed: false })
    expect(first.body.data.storyAdd).toMatchObject({ __typename: 'StoryAddPayload', story: { title: 'once' } })
    expect(again).toMatchObject({ status: 200, replayed: true })
    expect(again.body).toEqual({ ...first.body, extensions: { ...first.body.extensions, replayed: true } })
    expect(first.body.extensions).not.toHaveProperty('replayed')
    expect(await stories('once')).toBe(1)
  })

  it('PLAT-60 replays a BigInt as the string that it was', async () => {
    const key = newKey()
    await add(host, key, 'counted')
    const { body } = await add(host, key, 'counted')
    expect(body.data.storyAdd.room.version).toMatch(/^\d+$/)
  })

  it('PLAT-50 is the same whatever GraphQL ignores in it and in whatever order its variables come', async () => {
    const key = newKey()
    await send(host, key, STORY_ADD, { input: { roomId: room.id, title: 'spelled' } })
    const respelled = `# a comment\n${STORY_ADD.replace(/\s+/g, ' ,  ').replace('Add ( ', 'Add(')}`
    const again = await send(host, key, respelled, { input: { title: 'spelled', roomId: room.id } })
    expect(again).toMatchObject({ status: 200, replayed: true })
  })

  it.each([
    ['other variables', 'reused', STORY_ADD],
    ['another selection', 'first use', STORY_ADD.replace('story { id title }', 'story { id }')],
    ['another operation', 'first use', STORY_ADD.replace('Add(', 'Plus(')],
  ])('PLAT-50 refuses %s under the key, and nothing runs', async (_, title, document) => {
    const key = newKey()
    const before = await stories(title)
    await add(host, key, 'first use')
    const refused = await add(host, key, title, document)

    expect([refused.status, codeOf(refused)]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED'])
    expect(await stories(title)).toBe(before + (title === 'first use' ? 1 : 0))
  })

  it('PLAT-50 refuses another of the operations in one document', async () => {
    const key = newKey()
    const document = (name: string) => ({
      query: `mutation A { storyAdd(input: { roomId: "${room.id}", title: "of two" }) { __typename } }
              mutation B { storyAdd(input: { roomId: "${room.id}", title: "of two" }) { __typename } }`,
      operationName: name,
    })
    const ask = (name: string) =>
      fetch(host.client.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${host.client.token}`,
          'idempotency-key': key,
        },
        body: JSON.stringify(document(name)),
      })
    expect((await ask('A')).status).toBe(200)
    expect((await ask('B')).status).toBe(409)
    expect(await stories('of two')).toBe(1)
  })

  it('PLAT-49 says nothing to another person, a guest, another org or an admin key', async () => {
    const key = newKey()
    const [person, agent, admin, stranger] = await Promise.all([
      world.member(),
      world.agent(),
      world.adminKey(),
      world.otherOrg(),
    ])
    await world.attend(room, person)
    const first = await add(host, key, 'mine')
    const second = await add(person, key, 'yours')
    expect([first, second].map(({ replayed, body }) => [replayed, body.data.storyAdd.story.title])).toEqual([
      [false, 'mine'],
      [false, 'yours'],
    ])
    const update =
      'mutation ($name: String!) { viewerUpdate(input: { displayName: $name }) { __typename ... on ViewerUpdatePayload { viewer { user { displayName } } } } }'
    for (const [actor, name] of [
      [stranger, 'Stranger'],
      [await world.guest(room), 'Guest'],
    ] as const) {
      const own = await send(actor, key, update, { name })
      expect([own.status, own.replayed, codeOf(own)]).toEqual([200, false, undefined])
    }
    const create =
      'mutation ($name: String!) { agentCreate(input: { name: $name, mode: READ, projectScope: ALL }) { __typename } }'
    for (const actor of [admin, agent]) {
      const own = await send(actor, key, create, {
        name: `made-${newKey()
          .toLowerCase()
          .replace(/[^a-z0-9]/g, '')}`,
      })
      expect([own.status, own.replayed]).toEqual([200, false])
    }
    expect((await send(admin, key, create, { name: 'other' })).status).toBe(409)
  })

  it('PLAT-49 refuses a malformed key and runs nothing', async () => {
    for (const key of ['two words', 'é', 'x'.repeat(129)]) {
      const answer = await fetch(host.client.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/graphql-response+json',
          authorization: `Bearer ${host.client.token}`,
          'idempotency-key': key,
        },
        body: JSON.stringify({ query: STORY_ADD, variables: { input: { roomId: room.id, title: 'malformed' } } }),
      })
      expect([answer.status, (await answer.json()).errors[0].extensions.code]).toEqual([400, 'BAD_REQUEST'])
    }
    expect(await stories('malformed')).toBe(0)
    expect((await add(host, 'x'.repeat(128), 'longest')).status).toBe(200)
  })

  it('PLAT-49 ignores the key of a query and of nobody', async () => {
    const key = newKey()
    const query = `{ room(id: "${room.id}") { version } }`
    expect(await send(host, key, query)).toMatchObject({ status: 200, replayed: false })
    expect(await send(host, 'not a key', query)).toMatchObject({ status: 200 })
    const nobody = { client: app.client() } as Asker
    const signIn = `mutation { sessionCreateAnonymous(input: { orgSlug: "${world.org.slug}", displayName: "Ann", delivery: BEARER }) { ... on SessionCreateAnonymousPayload { token } } }`
    const tokens = [await send(nobody, key, signIn), await send(nobody, key, signIn)].map(
      ({ body }) => body.data.sessionCreateAnonymous.token,
    )
    expect(tokens[0]).not.toBe(tokens[1])
    expect(await rowOf(key)).toBeUndefined()
  })

  it('PLAT-51 keeps the answer sealed', async () => {
    const key = newKey()
    await add(host, key, 'c4n4ry-in-a-title')
    const [row] = await world.sql(
      'SELECT *, response_envelope AS bytes FROM platform.idempotency_keys WHERE key = $1',
      [key],
    )
    expect(row).toMatchObject({ state: 'done', committed_fields: ['storyAdd'], status_code: 200 })
    expect((row!.bytes as Buffer).includes('c4n4ry')).toBe(false)
    expect(JSON.stringify(row)).not.toContain('c4n4ry')
  })

  it('PLAT-51 keeps a key that is shown once, sealed, and shows it again to whoever made it', async () => {
    const agent = await world.agent()
    const document = `mutation ($id: ID!) { apiKeyCreate(input: { agentId: $id, name: "once", mode: LIVE, scopes: [WORK_READ] }) {
      __typename ... on ApiKeyCreatePayload { key } ... on Error { code } } }`
    const key = newKey()
    const first = await send(world.owner, key, document, { id: encodeId('Agent', agent.userId) })
    const again = await send(world.owner, key, document, { id: encodeId('Agent', agent.userId) })
    const secret: string = first.body.data.apiKeyCreate.key
    expect(secret).toMatch(/^mh_live_/)
    expect(again.body.data.apiKeyCreate.key).toBe(secret)
    const [row] = await world.sql(
      `SELECT encode(response_envelope, 'escape') || response_headers::text AS text FROM platform.idempotency_keys WHERE key = $1`,
      [key],
    )
    expect(row!.text).not.toContain(secret.slice(-30))
    expect(app.log()).not.toContain(secret)
  })

  it('PLAT-53 forgets what failed with nothing committed: the next runs anew', async () => {
    const key = newKey()
    const absent = { input: { roomId: room.id.replace(/.$/, (last) => (last === '0' ? '1' : '0')), title: 'late' } }
    for (const replayed of [false, false]) {
      const answer = await send(host, key, STORY_ADD, absent)
      expect(answer).toMatchObject({ status: 200, replayed })
      expect(answer.body.data.storyAdd.code).toBe('NOT_FOUND')
    }
    const other = await add(host, key, 'late') // another request, since the key is free again
    expect(other.body.data.storyAdd.__typename).toBe('StoryAddPayload')
  })

  it('PLAT-53 forgets what was refused before it ran', async () => {
    const key = newKey()
    for (const document of ['mutation { nothing }', 'mutation {', `mutation { ${'storyAdd '.repeat(11)} }`]) {
      expect((await send(host, key, document)).status).toBe(400)
    }
    expect((await send(host, key, STORY_ADD, { input: { roomId: room.id, title: 7 } })).status).toBe(400)
    expect((await add(host, key, 'at last')).body.data.storyAdd.__typename).toBe('StoryAddPayload')
  })

  it('PLAT-51 keeps the answer when some fields committed and others failed', async () => {
    const key = newKey()
    const document = `mutation ($room: ID!) {
      one: storyAdd(input: { roomId: $room, title: "partly one" }) { __typename }
      two: storyAdd(input: { roomId: $room, title: "" }) { __typename }
      three: storyAdd(input: { roomId: $room, title: "partly three" }) { __typename } }`
    const first = await send(host, key, document, { room: room.id })
    const again = await send(host, key, document, { room: room.id })
    expect(first.body.data).toEqual({
      one: { __typename: 'StoryAddPayload' },
      two: { __typename: 'InvalidInputError' },
      three: { __typename: 'StoryAddPayload' },
    })
    expect([again.replayed, again.body.data]).toEqual([true, first.body.data])
    expect((await rowOf(key))!.committed_fields).toEqual(['one', 'three'])
    expect([await stories('partly one'), await stories('partly three')]).toEqual([1, 1])
  })

  it('PLAT-51 marks a field once, however often contention runs it again', async () => {
    await world.sql(`
      CREATE SEQUENCE rooms.injected;
      CREATE FUNCTION rooms.inject() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN IF nextval('rooms.injected') <= 2 THEN RAISE SQLSTATE '40001'; END IF; RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER inject AFTER INSERT ON rooms.stories DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION rooms.inject()`)
    const key = newKey()
    try {
      const first = await add(host, key, 'contended')
      expect(first.body.data.storyAdd.__typename).toBe('StoryAddPayload')
      expect((await world.sql(`SELECT last_value::int AS runs FROM rooms.injected`))[0]!.runs).toBe(3)
      expect(await rowOf(key)).toMatchObject({ state: 'done', committed_fields: ['storyAdd'] })
      expect((await add(host, key, 'contended')).replayed).toBe(true)
      expect(await stories('contended')).toBe(1)

      // Contention to the end is a failure with nothing committed.
      await world.sql(`SELECT setval('rooms.injected', 1, false)`)
      await world.sql(`CREATE OR REPLACE FUNCTION rooms.inject() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE SQLSTATE '40001'; END $$`)
      const other = newKey()
      expect((await add(host, other, 'hopeless')).body.data.storyAdd.code).toBe('CONFLICT')
      await world.sql('DROP TRIGGER inject ON rooms.stories')
      expect(await add(host, other, 'hopeless')).toMatchObject({ replayed: false, status: 200 })
      expect(await stories('hopeless')).toBe(1)
    } finally {
      await world.sql('DROP FUNCTION rooms.inject CASCADE; DROP SEQUENCE rooms.injected')
    }
  })

  it('PLAT-52 sets the cookies of a sign-in again, and keeps them sealed', async () => {
    const key = newKey()
    const signIn = `mutation { sessionCreateAnonymous(input: { orgSlug: "${world.org.slug}", displayName: "Ann" }) { __typename } }`
    const ask = async () => {
      const response = await host.client.post(signIn, {}, { 'idempotency-key': key })
      return { cookies: response.headers.getSetCookie(), body: await response.json() }
    }
    const [first, again] = [await ask(), await ask()]
    expect(first.body.data.sessionCreateAnonymous.__typename).toBe('SessionCreateAnonymousPayload')
    expect(first.cookies.some((cookie) => cookie.includes('mhs_'))).toBe(true)
    expect(again.cookies).toEqual(first.cookies)
    expect(JSON.stringify(again.body)).not.toContain('mhs_')
    const [row] = await world.sql(
      `SELECT encode(response_envelope, 'escape') || response_headers::text AS text FROM platform.idempotency_keys WHERE key = $1`,
      [key],
    )
    expect(row!.text).not.toContain('mhs_')
  })

  it('PLAT-51 keeps a request that goes over to another org on its way', async () => {
    const person = await world.member()
    const other = await world.otherOrg()
    await world.sql(
      `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, 'member', 'both', now())`,
      [other.orgId, person.userId],
    )
    const key = newKey()
    const document = `mutation ($org: ID!) {
      sessionSwitchOrg(input: { orgId: $org }) { __typename }
      viewerUpdate(input: { displayName: "Moved" }) { __typename } }`
    const first = await send(person, key, document, { org: encodeId('Org', other.orgId) })
    expect(first.body).toMatchObject({
      data: {
        sessionSwitchOrg: { __typename: 'SessionSwitchOrgPayload' },
        viewerUpdate: { __typename: 'ViewerUpdatePayload' },
      },
    })
    const rows = await world.sql(
      'SELECT org_id, state, committed_fields FROM platform.idempotency_keys WHERE key = $1',
      [key],
    )
    expect(rows).toEqual([
      { org_id: person.orgId, state: 'done', committed_fields: ['sessionSwitchOrg', 'viewerUpdate'] },
    ])
  })

  it('PLAT-53 loses an answer over 1 MiB and says so', async () => {
    const title = 'x'.repeat(200)
    await world.sql(
      `INSERT INTO rooms.stories (org_id, id, room_id, title, position)
       SELECT $1, platform.new_id(), $2, $3, 10000 + n FROM generate_series(1, 400) AS n`,
      [room.orgId, room.uuid, title],
    )
    const key = newKey()
    const fields = Array.from({ length: 14 }, (_, at) => `a${at}: stories { id title }`)
    const document = `mutation ($input: StoryAddInput!) { storyAdd(input: $input) {
      ... on StoryAddPayload { room { poker { ${fields.join(' ')} } } } } }`
    const first = await add(host, key, 'large', document)
    const answer = await add(host, key, 'large', document)
    await world.sql('DELETE FROM rooms.stories WHERE title = $1', [title])

    expect(first.body.errors).toBeUndefined()
    expect(first.text.length).toBeGreaterThan(1_048_576)
    expect([answer.status, codeOf(answer)]).toEqual([409, 'IDEMPOTENCY_RESULT_LOST'])
    expect(answer.body.errors![0]!.extensions).toMatchObject({ committedFields: ['storyAdd'] })
    expect(await stories('large')).toBe(1)
  })

  it('PLAT-54 expires with its time, seen or not, and is then swept', async () => {
    const key = newKey()
    await add(host, key, 'long ago')
    const [row] = await world.sql(
      'SELECT extract(epoch FROM expires_at - created_at)::int AS seconds FROM platform.idempotency_keys WHERE key = $1',
      [key],
    )
    expect(row!.seconds).toBe(7_200)

    await world.sql(`UPDATE platform.idempotency_keys SET expires_at = now() - interval '1 s' WHERE key = $1`, [key])
    expect(await add(host, key, 'long after')).toMatchObject({ status: 200, replayed: false })
    expect([await stories('long ago'), await stories('long after')]).toEqual([1, 1])

    const kept = newKey()
    await add(host, kept, 'kept')
    await world.sql(`UPDATE platform.idempotency_keys SET expires_at = now() - interval '1 s' WHERE key = $1`, [key])
    expect(await pruneIdempotencyKeys()).toBeGreaterThan(0)
    expect([await rowOf(key), (await rowOf(kept))?.state]).toEqual([undefined, 'done'])
  })

  it('PLAT-52 works over a WebSocket, and across transports', async () => {
    const key = newKey()
    const client = createClient({
      url: `${app.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${host.client.token}` },
      retryAttempts: 0,
    })
    const overSocket = (idempotencyKey: unknown) =>
      new Promise<Answer>((resolve, reject) => {
        client.subscribe(
          {
            query: STORY_ADD,
            variables: { input: { roomId: room.id, title: 'by socket' } },
            extensions: { idempotencyKey },
          },
          { next: (answer) => resolve(answer as never), error: reject, complete: () => {} },
        )
      })
    try {
      const first = await overSocket(key)
      const again = await overSocket(key)
      const overHttp = await add(host, key, 'by socket')
      expect(first.data.storyAdd.__typename).toBe('StoryAddPayload')
      expect(again).toEqual({ ...first, extensions: { ...first.extensions, replayed: true } })
      expect(overHttp).toMatchObject({ status: 200, replayed: true, body: again })
      expect(await stories('by socket')).toBe(1)
      for (const malformed of ['', 'two words', 7, {}]) {
        expect((await overSocket(malformed)).errors![0]!.extensions.code).toBe('BAD_REQUEST')
      }
      expect(await stories('by socket')).toBe(1)
    } finally {
      await client.dispose()
    }
  })

  it('PLAT-53 spends nothing of the cost of a mutation that does not run', async () => {
    const key = newKey()
    const first = await add(host, key, 'priced')
    await add(host, key, 'priced')
    const next = await host.send(`{ room(id: "${room.id}") { id } }`)
    const remaining = (answer: Answer) =>
      (answer.extensions!.cost as { remaining: number; requested: number }).remaining
    expect(remaining(first.body) - remaining(next)).toBe((next.extensions!.cost as { requested: number }).requested)
  })
})
