import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

const ORIGIN = 'https://board.example'
const JSON_BODY = { 'content-type': 'application/json' }
const TYPENAME = JSON.stringify({ query: '{ __typename }' })

let app: App
let world: World
beforeAll(async () => {
  app = await startApp({ MOOTHALL_CORS_ORIGINS: ORIGIN, MOOTHALL_TRUST_PROXY: '1' })
  world = await createWorld(app)
})
afterAll(() => world.close())

const call = (init: RequestInit, path = '/graphql') => fetch(app.url + path, { method: 'POST', ...init })
const codeOf = async (response: Response) => ((await response.json()) as Body).errors?.[0]?.extensions.code
type Body = { data?: unknown; errors?: { message: string; extensions: { code?: string } }[] }

describe('request bodies', () => {
  it('PLAT-68 refuses a body over the bound by its declared length', async () => {
    const answer = await call({ headers: JSON_BODY, body: JSON.stringify({ query: `#${'x'.repeat(1024 * 1024)}` }) })

    expect(answer.status).toBe(413)
    expect(await codeOf(answer)).toBe('PAYLOAD_TOO_LARGE')
  })

  it('PLAT-68 refuses a chunked body over the bound, which declares no length, and serves the connection on', async () => {
    const request = httpRequest(`${app.url}/graphql`, { method: 'POST', headers: JSON_BODY })
    const answered = once(request, 'response')
    for (let kib = 0; kib < 1100; kib += 100) request.write(' '.repeat(100 * 1024))
    request.end(TYPENAME)
    const [answer] = await answered

    expect(answer.statusCode).toBe(413)
    expect(await new Response(answer).json()).toMatchObject({ errors: [{ extensions: { code: 'PAYLOAD_TOO_LARGE' } }] })
    expect((await call({ headers: JSON_BODY, body: TYPENAME })).status).toBe(200)
  })

  it('PLAT-68 takes a body up to the bound', async () => {
    const filler = 1024 * 1024 - JSON.stringify({ query: '{ __typename }#' }).length

    const answer = await call({
      headers: JSON_BODY,
      body: JSON.stringify({ query: `{ __typename }#${'x'.repeat(filler)}` }),
    })

    expect(await answer.json()).toMatchObject({ data: { __typename: 'Query' } })
  })

  it('PLAT-68 refuses multipart requests, forms and plain text', async () => {
    const form = new FormData()
    form.set('operations', TYPENAME)
    const bodies: RequestInit[] = [
      { body: form },
      { body: new URLSearchParams({ query: '{ __typename }' }) },
      { body: TYPENAME, headers: { 'content-type': 'text/plain' } },
      { body: '{ __typename }', headers: { 'content-type': 'application/graphql' } },
      { body: Buffer.from(TYPENAME) },
    ]
    for (const init of bodies) {
      const answer = await call(init)
      expect(answer.status).toBe(415)
      expect(await codeOf(answer)).toBe('BAD_REQUEST')
    }
  })

  it('PLAT-68 refuses a batch of operations', async () => {
    const answer = await call({ headers: JSON_BODY, body: `[${TYPENAME}, ${TYPENAME}]` })

    expect(answer.status).toBe(400)
    expect(await codeOf(answer)).toBe('BAD_REQUEST')
  })

  it.each([
    ['nothing', ''],
    ['no JSON', '{ __typename }'],
    ['a string', '"{ __typename }"'],
    ['null', 'null'],
    ['no query', '{}'],
    ['a number for a query', '{"query":1}'],
    ['a list for variables', '{"query":"{ __typename }","variables":[]}'],
    ['an unknown member', '{"query":"{ __typename }","priority":1}'],
    [
      'broken UTF-8',
      Buffer.concat([Buffer.from('{"query":"{ __typename } #'), Buffer.from([0xff]), Buffer.from('"}')]),
    ],
    ['two operations and no name', '{"query":"query A { __typename } query B { __typename }"}'],
    ['the name of no operation', '{"query":"query A { __typename }","operationName":"B"}'],
  ])('PLAT-62 answers %s with BAD_REQUEST', async (_what, body) => {
    const answer = await call({ headers: { ...JSON_BODY, accept: 'application/graphql-response+json' }, body })

    expect(answer.status).toBe(400)
    expect(await codeOf(answer)).toBe('BAD_REQUEST')
  })

  it.each([
    ['GRAPHQL_PARSE_FAILED', '{', {}],
    ['GRAPHQL_VALIDATION_FAILED', '{ nothing }', {}],
    ['BAD_REQUEST', 'query ($id: ID!) { node(id: $id) { id } }', {}],
    ['BAD_REQUEST', 'query ($id: ID!) { node(id: $id) { id } }', { id: {} }],
  ])('PLAT-62 answers with %s and 400 what GraphQL finds wrong in %s', async (code, query, variables) => {
    const answer = await world.owner.client.post(query, variables)

    expect(answer.status).toBe(400)
    expect(await codeOf(answer)).toBe(code)
  })
})

describe('methods and routes', () => {
  it('PLAT-68 takes queries by GET and no mutations', async () => {
    const get = (query: string) => fetch(`${app.url}/graphql?${new URLSearchParams({ query })}`)

    expect(await (await get('{ __typename }')).json()).toMatchObject({ data: { __typename: 'Query' } })
    const refused = await get('mutation { __typename }')
    expect(refused.status).toBe(405)
    expect(await codeOf(refused)).toBe('BAD_REQUEST')
  })

  it('refuses other methods', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      expect((await call({ method, headers: JSON_BODY, body: TYPENAME })).status).toBe(405)
    }
  })

  it('answers other paths with 404', async () => {
    const answer = await fetch(`${app.url}/graphql/elsewhere`)

    expect(answer.status).toBe(404)
    expect(await codeOf(answer)).toBe('NOT_FOUND')
  })

  it.each(['a b', '[::1', '%%%', 'x:99999', ''])('shows nothing of itself to a request with host %j', async (host) => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    socket.end(
      `POST /graphql HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${TYPENAME.length}\r\nConnection: close\r\n\r\n${TYPENAME}`,
    )
    let answer = ''
    for await (const text of socket) answer += text

    expect(answer).toMatch(/^HTTP\/1.1 200 /)
    expect(answer).toContain('{"data":{"__typename":"Query"}')
  })

  it.each([
    ['GET', '/healthz', ''],
    ['POST', '/graphql', TYPENAME],
  ])('answers %s %s of a client that offers HTTP/2, as curl and Java do', async (method, path, body) => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
    socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    const [answer] = await once(socket, 'data')
    socket.destroy()

    expect(String(answer)).toMatch(/^HTTP\/1.1 200 /)
  })

  it('PLAT-68 refuses headers over 16 KiB', async () => {
    const answer = await call({ headers: { ...JSON_BODY, 'x-filler': 'x'.repeat(17 * 1024) }, body: TYPENAME })

    expect(answer.status).toBe(431)
  })
})

describe('status', () => {
  it('PLAT-62 answers with the status of an error when there is nothing else', async () => {
    const answer = await app
      .client()
      .post('{ viewer { __typename } node(id: "usr_01h455vb4pex5vsknk084sn02q") { id } }')
    const alone = await app.client().post('{ node(id: "usr_01h455vb4pex5vsknk084sn02q") { id } }')

    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({
      data: { node: null },
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    })
    expect(alone.status).toBe(401)
  })
})

describe('introspection', () => {
  const codes = async (answer: Promise<{ errors?: { extensions: { code?: string } }[] }>) =>
    (await answer).errors?.map(({ extensions }) => extensions.code)

  it('PLAT-66 is for whoever is signed in, also of a document that others have sent before', async () => {
    const document = '{ __schema { queryType { ...F } } } fragment F on __Type { name }'

    expect(await codes(world.owner.send(document))).toBeUndefined()
    expect(await codes(app.client().send(document))).toContain('GRAPHQL_VALIDATION_FAILED')
    expect(await codes(app.client().send('{ ...S } fragment S on Query { __type(name: "User") { name } }'))).toContain(
      'GRAPHQL_VALIDATION_FAILED',
    )
    expect(await codes(world.owner.send(document))).toBeUndefined()
  })

  it('PLAT-66 names are suggested to nobody else, in documents and in variables', async () => {
    const create =
      'mutation ($input: SessionCreateAnonymousInput!) { sessionCreateAnonymous(input: $input) { __typename } }'
    const input = { orgSlug: 'main', displayName: 'Ada', delivery: 'COOKY' }
    for (const [document, variables] of [
      ['{ viewr { __typename } }', {}],
      [create, { input }],
      [create, { input: { ...input, displayNam: 'Ada' } }],
    ] as const) {
      const messages = async (sent: Promise<{ errors?: { message: string }[] }>) => JSON.stringify((await sent).errors)
      expect(await messages(world.owner.send(document, variables))).toContain('Did you mean')
      expect(await messages(app.client().send(document, variables))).not.toContain('Did you mean')
    }
  })
})

describe('headers', () => {
  it('sets the headers that keep browsers safe on every answer', async () => {
    for (const answer of [await call({ headers: JSON_BODY, body: TYPENAME }), await fetch(`${app.url}/nowhere`)]) {
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      })
      expect(answer.headers.has('strict-transport-security')).toBe(false)
    }
  })

  it('PLAT-65 names each request, and takes the name from a trusted proxy only when it is a UUID', async () => {
    const inbound = '0190b9a8-7c1e-7d3e-8f00-0123456789ab'
    const idFor = async (id?: string) =>
      (await call({ headers: { ...JSON_BODY, ...(id && { 'x-request-id': id }) }, body: TYPENAME })).headers.get(
        'x-request-id',
      )

    expect(await idFor(inbound)).toBe(inbound)
    expect(await idFor('abc')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/)
    expect(await idFor()).not.toBe(await idFor())
  })
})

describe('other origins', () => {
  const preflight = (origin: string) =>
    call({
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'x-moothall-csrf' },
    })

  it('lets a listed origin call with credentials', async () => {
    const asked = await preflight(ORIGIN)
    const called = await call({ headers: { ...JSON_BODY, origin: ORIGIN }, body: TYPENAME })

    expect(asked.status).toBe(204)
    for (const answer of [asked, called]) {
      expect(answer.headers.get('access-control-allow-origin')).toBe(ORIGIN)
      expect(answer.headers.get('access-control-allow-credentials')).toBe('true')
      expect(answer.headers.get('vary')).toBe('Origin')
    }
    expect(asked.headers.get('access-control-allow-headers')).toContain('x-moothall-csrf')
    expect(called.headers.get('access-control-expose-headers')).toContain('x-request-id')
  })

  it('names no other origin, however alike, and never *', async () => {
    for (const origin of [
      'https://board.example.evil.example',
      'http://board.example',
      'https://BOARD.example',
      'null',
    ]) {
      const asked = await preflight(origin)
      expect([...asked.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})
