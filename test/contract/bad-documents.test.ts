import { request as httpRequest } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { PLANTED } from './bad-values.ts'
import { digestOf } from './digest.ts'
import { faultOfAnswer, TOP_LEVEL } from './refusal.ts'
import { type Play, Stage } from './stage.ts'

let stage: Stage
let play: Play
beforeAll(async () => {
  stage = await Stage.open(await startApp())
  play = await stage.play()
})
afterAll(() => stage?.world.close())

const many = (count: number, text: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => text(at)).join(' ')
/** A change that would be made if anything of the document ran. */
const CHANGE = () => `roomRename(input: { roomId: "${play.room.id}", title: "${PLANTED}" }) { __typename }`
const deep = (levels: number) =>
  `{ room(id: "${play.room.id}") { ${'space { rooms { nodes { '.repeat(levels / 3)} id ${'} } } '.repeat(levels / 3)} } }`

type Refused = [what: string, code: string, status: number, document: () => string, operationName?: string]

const DOCUMENTS: readonly Refused[] = [
  ['200 levels', 'QUERY_TOO_COMPLEX', 400, () => deep(200)],
  [
    '200 levels of a mutation’s payload',
    'QUERY_TOO_COMPLEX',
    400,
    () =>
      `mutation { roomRename(input: { roomId: "${play.room.id}", title: "x" }) { ... on RoomRenamePayload { room { ${'space { rooms { nodes { '.repeat(66)} id ${'} } } '.repeat(66)} } } } }`,
  ],
  ['3,000 aliases', 'GRAPHQL_PARSE_FAILED', 400, () => `{ ${many(3_000, (n) => `a${n}: __typename`)} }`],
  [
    '31 aliases',
    'QUERY_TOO_COMPLEX',
    400,
    () => `{ room(id: "${play.room.id}") { ${many(31, (n) => `a${n}: title`)} } }`,
  ],
  [
    '31 aliases through fragments',
    'QUERY_TOO_COMPLEX',
    400,
    () =>
      `{ a: room(id: "${play.room.id}") { ...f } b: room(id: "${play.room.id}") { ...f } } fragment f on Room { ${many(15, (n) => `a${n}: title`)} }`,
  ],
  ['11 mutations', 'QUERY_TOO_COMPLEX', 400, () => `mutation { ${many(11, (n) => `m${n}: ${CHANGE()}`)} }`],
  ['21 root fields', 'QUERY_TOO_COMPLEX', 400, () => `{ ${many(21, (n) => `a${n}: serverInfo { version }`)} }`],
  ['a spread on the schema’s own type', 'GRAPHQL_VALIDATION_FAILED', 400, () => `mutation { ${CHANGE()} ...__schema }`],
  [
    '21 directives',
    'QUERY_TOO_COMPLEX',
    400,
    () => `{ room(id: "${play.room.id}") { ${many(21, () => 'title @include(if: true)')} } }`,
  ],
  [
    'a flood of directives',
    'GRAPHQL_PARSE_FAILED',
    400,
    () => `mutation { ${CHANGE()} ${many(3_000, () => '@skip(if: false)')} }`,
  ],
  ['an unknown directive', 'GRAPHQL_VALIDATION_FAILED', 400, () => `mutation @zqbad { ${CHANGE()} }`],
  ['10,000 tokens', 'GRAPHQL_PARSE_FAILED', 400, () => `mutation { ${CHANGE()} ${many(10_000, () => '__typename')} }`],
  [
    'a fragment that spreads itself',
    'GRAPHQL_VALIDATION_FAILED',
    400,
    () => `mutation { ${CHANGE()} ...f } fragment f on Mutation { ...f }`,
  ],
  [
    'fragments in a circle',
    'GRAPHQL_VALIDATION_FAILED',
    400,
    () =>
      `mutation { ${CHANGE()} ...a } fragment a on Mutation { ...b } fragment b on Mutation { ...c } fragment c on Mutation { ...a }`,
  ],
  [
    'a bomb of fragments',
    'QUERY_TOO_COMPLEX',
    400,
    () =>
      `{ ...f0 } ${many(30, (n) => `fragment f${n} on Query { ...f${n + 1} ...f${n + 1} }`)} fragment f30 on Query { serverInfo { version } }`,
  ],
  ['an unknown field', 'GRAPHQL_VALIDATION_FAILED', 400, () => `mutation { ${CHANGE()} zqbad }`],
  [
    'an unknown argument',
    'GRAPHQL_VALIDATION_FAILED',
    400,
    () => `mutation { ${CHANGE()} sessionEnd(zqbad: 1) { __typename } }`,
  ],
  [
    'a variable that is not declared',
    'GRAPHQL_VALIDATION_FAILED',
    400,
    () => `mutation { ${CHANGE()} roomEnd(input: $zqbad) { __typename } }`,
  ],
  ['a variable that nothing uses', 'GRAPHQL_VALIDATION_FAILED', 400, () => `mutation ($zqbad: Int) { ${CHANGE()} }`],
  ['broken syntax', 'GRAPHQL_PARSE_FAILED', 400, () => `mutation { ${CHANGE()}`],
  [
    'a lone surrogate in a literal',
    'GRAPHQL_PARSE_FAILED',
    400,
    () => `mutation { ${CHANGE()} b: roomRename(input: { roomId: "\\uD800", title: "" }) { __typename } }`,
  ],
  ['the name of no operation', 'BAD_REQUEST', 400, () => `mutation A { ${CHANGE()} }`, 'B'],
  ['two operations and no name', 'BAD_REQUEST', 400, () => `mutation A { ${CHANGE()} } mutation B { ${CHANGE()} }`],
  [
    'two operations of one name',
    'GRAPHQL_VALIDATION_FAILED',
    400,
    () => `mutation A { ${CHANGE()} } mutation A { ${CHANGE()} }`,
    'A',
  ],
  ['types instead of an operation', 'BAD_REQUEST', 400, () => 'type Query { zqbad: Int }'],
  [
    'a subscription without a stream',
    'BAD_REQUEST',
    400,
    () => `subscription { roomEvents(roomId: "${play.room.id}") { __typename } }`,
  ],
]

it.each(DOCUMENTS)('PLAT-62, PLAT-66 %s: %s', async (_what, code, status, document, operationName) => {
  const before = await digestOf(stage.world)
  for (const client of [play.host.client, stage.world.app.client()]) {
    const answer = await send(
      JSON.stringify({ query: document(), ...(operationName && { operationName }) }),
      client.token,
    )
    expect(answer.fault).toBeNull()
    expect({ code: answer.code, status: answer.status }).toEqual({ code, status })
    expect(answer.data).toBeUndefined()
  }
  expect(await digestOf(stage.world)).toEqual(before)
})

const change = () => `mutation { ${CHANGE()} }`
const json = 'application/json'
type Body = [what: string, status: number, code: string, request: () => Request]
type Request = { method?: string; path?: string; type?: string | null; body?: string | Buffer }

const BODIES: readonly Body[] = [
  ['nothing', 400, 'BAD_REQUEST', () => ({ body: '' })],
  ['blanks', 400, 'BAD_REQUEST', () => ({ body: ' \n ' })],
  ['half of it', 400, 'BAD_REQUEST', () => ({ body: JSON.stringify({ query: change() }).slice(0, -2) })],
  [
    'a list of operations',
    400,
    'BAD_REQUEST',
    () => ({ body: JSON.stringify([{ query: change() }, { query: change() }]) }),
  ],
  ['a text', 400, 'BAD_REQUEST', () => ({ body: JSON.stringify(change()) })],
  ['null', 400, 'BAD_REQUEST', () => ({ body: 'null' })],
  ['a number for variables', 400, 'BAD_REQUEST', () => ({ body: JSON.stringify({ query: change(), variables: 5 }) })],
  ['a list for a query', 400, 'BAD_REQUEST', () => ({ body: JSON.stringify({ query: [change()] }) })],
  [
    'a number for the operation’s name',
    400,
    'BAD_REQUEST',
    () => ({ body: JSON.stringify({ query: change(), operationName: 5 }) }),
  ],
  ['a member that is none', 400, 'BAD_REQUEST', () => ({ body: JSON.stringify({ query: change(), zqbad: 1 }) })],
  [
    'broken UTF-8',
    400,
    'BAD_REQUEST',
    () => ({
      body: Buffer.concat([
        Buffer.from(`{"query":"${change().replaceAll('"', '\\"')} #`),
        Buffer.from([0xc3, 0x28, 0xff]),
        Buffer.from('"}'),
      ]),
    }),
  ],
  ['UTF-16', 400, 'BAD_REQUEST', () => ({ body: Buffer.from(JSON.stringify({ query: change() }), 'utf16le') })],
  ['100,000 brackets', 400, 'BAD_REQUEST', () => ({ body: '['.repeat(100_000) })],
  [
    '2 MiB',
    413,
    'PAYLOAD_TOO_LARGE',
    () => ({ body: JSON.stringify({ query: `${change()} #${'x'.repeat(2 * 1024 * 1024)}` }) }),
  ],
  [
    '2 MiB of variables',
    413,
    'PAYLOAD_TOO_LARGE',
    () => ({
      body: JSON.stringify({ query: change(), variables: { x: 'x'.repeat(2 * 1024 * 1024) } }),
    }),
  ],
  ['plain text', 415, 'BAD_REQUEST', () => ({ type: 'text/plain', body: JSON.stringify({ query: change() }) })],
  ['no type', 415, 'BAD_REQUEST', () => ({ type: null, body: JSON.stringify({ query: change() }) })],
  ['GraphQL itself', 415, 'BAD_REQUEST', () => ({ type: 'application/graphql', body: change() })],
  [
    'a form',
    415,
    'BAD_REQUEST',
    () => ({
      type: 'application/x-www-form-urlencoded',
      body: String(new URLSearchParams({ query: change() })),
    }),
  ],
  [
    'an upload',
    415,
    'BAD_REQUEST',
    () => ({
      type: 'multipart/form-data; boundary=zqbad',
      body: `--zqbad\r\ncontent-disposition: form-data; name="operations"\r\n\r\n${JSON.stringify({ query: change() })}\r\n--zqbad--\r\n`,
    }),
  ],
  [
    'a mutation by GET',
    405,
    'BAD_REQUEST',
    () => ({ method: 'GET', path: `/graphql?${new URLSearchParams({ query: change() })}` }),
  ],
  [
    'variables by GET that are no JSON',
    400,
    'BAD_REQUEST',
    () => ({
      method: 'GET',
      path: `/graphql?${new URLSearchParams({ query: '{ __typename }', variables: '{' })}`,
    }),
  ],
]

it.each(BODIES)('PLAT-62, PLAT-68 a body of %s: %i %s', async (_what, status, code, request) => {
  const before = await digestOf(stage.world)
  const { method = 'POST', path = '/graphql', body, ...given } = request()
  const answer = await send(body, play.host.client.token, {
    method,
    path,
    type: given.type === undefined ? json : given.type,
  })
  expect(answer.fault).toBeNull()
  expect({ status: answer.status, code: answer.code }).toEqual({ status, code })
  expect(answer.data).toBeUndefined()
  expect(await digestOf(stage.world)).toEqual(before)
})

it('PLAT-66 bounds introspection too, but for its depth and cost', async () => {
  const { token } = play.host.client
  const query = `{ ${many(31, (n) => `s${n}: __schema { description }`)} }`
  expect(await send(JSON.stringify({ query }), token)).toMatchObject({ code: 'QUERY_TOO_COMPLEX', status: 400 })
  expect(await send(JSON.stringify({ query: '{ __schema { description } }' }))).toMatchObject({
    code: 'GRAPHQL_VALIDATION_FAILED',
    status: 400,
  })
})

it('PLAT-66 suggests no name to whoever is not signed in', async () => {
  const answer = await send(JSON.stringify({ query: '{ viewr { usr { id } } }' }))
  expect(answer.text).not.toMatch(/Did you mean|viewer/)
})

type Sent = { status: number; text: string; code: string | undefined; data: unknown; fault: string | null }

/** By node:http, which sends what fetch would refuse or mend. */
async function send(
  body: string | Buffer | undefined,
  token?: string,
  { method = 'POST', path = '/graphql', type = json }: { method?: string; path?: string; type?: string | null } = {},
): Promise<Sent> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const headers = {
    accept: 'application/graphql-response+json, application/json',
    ...(type && body !== undefined && { 'content-type': type }),
    ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    ...(token && { authorization: `Bearer ${token}` }),
  }
  const request = httpRequest(new URL(path, stage.world.app.url), { method, headers }, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk) => (text += chunk))
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    response.on('error', reject)
  })
  request.on('error', reject)
  request.end(body)
  const { status, text } = await promise
  const { data, errors } = JSON.parse(text) as { data?: unknown; errors?: { extensions: { code: string } }[] }
  const codes = new Set(errors?.map(({ extensions }) => extensions.code))
  const fault = [...codes].some((code) => !TOP_LEVEL.includes(code)) ? text : faultOfAnswer(status, text)
  return { status, text, code: [...codes].join(), data, fault }
}
