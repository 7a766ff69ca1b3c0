import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import type { GraphqlClient } from '../support/client.ts'
import { createWorld, type World } from '../support/world.ts'

const QUERY = '{ serverInfo { version } }'

let world: World
beforeAll(async () => {
  world = await createWorld(
    await startApp({
      MOOTHALL_TRUST_PROXY: '1',
      MOOTHALL_RATE_PERSON: '5',
      MOOTHALL_RATE_NOBODY: '3',
      MOOTHALL_RATE_COST: '20',
    }),
  )
})
afterAll(() => world.close())

let addresses = 0
const newAddress = () => `198.51.100.${++addresses}`
const from = (address: string) => ({ 'x-forwarded-for': address })
const nobody = () => world.app.client()
const statuses = async (client: GraphqlClient, times: number, headers = {}, query = '{ __typename }') => {
  const seen: number[] = []
  for (let n = 0; n < times; n++) seen.push((await client.post(query, {}, headers)).status)
  return seen
}

describe('PLAT-69 requests a minute', () => {
  it('are counted for each person, wherever they come from', async () => {
    const { client } = await world.member()
    const other = await world.member()

    expect(await statuses(client, 4, from(newAddress()))).toEqual([200, 200, 200, 200])
    expect(await statuses(client, 2, from(newAddress()))).toEqual([200, 429])
    expect(await statuses(other.client, 1)).toEqual([200])
  })

  it('are counted for nobody by address, an IPv6 network as one', async () => {
    expect(await statuses(nobody(), 4, from(newAddress()))).toEqual([200, 200, 200, 429])
    expect(await statuses(nobody(), 3, from('2001:db8:7::1'))).toEqual([200, 200, 200])
    expect(await statuses(nobody(), 1, from('2001:db8:7::2'))).toEqual([429])
  })

  it('count what is refused for its document', async () => {
    const address = newAddress()

    expect(await statuses(nobody(), 4, from(address), '{')).toEqual([400, 400, 400, 429])
  })

  it('PLAT-71 are told in headers, and when to come back', async () => {
    const address = newAddress()
    const first = await nobody().post(QUERY, {}, from(address))
    await statuses(nobody(), 2, from(address))
    const refused = await nobody().post(QUERY, {}, from(address))

    expect(Object.fromEntries(first.headers)).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': '2' })
    expect(Number(first.headers.get('x-ratelimit-reset'))).toBeGreaterThan(50)
    expect(await refused.json()).toMatchObject({ errors: [{ extensions: { code: 'RATE_LIMITED' } }] })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50)
  })
})

describe('the cost of documents', () => {
  it('PLAT-67 stands in each answer, with what is left of the minute', async () => {
    const { client } = await world.member()
    const first = await client.send(QUERY)
    const second = await client.send(QUERY)

    expect(first.extensions).toEqual({
      cost: { requested: 1, maximum: 10_000, remaining: 19, resetAt: expect.any(String) },
    })
    expect(second.extensions).toMatchObject({ cost: { remaining: 18 } })
  })

  it('PLAT-67 counts every node that is asked for by its id, whatever is asked of it', async () => {
    const { client } = await world.member()
    const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }'
    const ids = (count: number) => ({ ids: Array<string>(count).fill(world.home.id) })
    expect((await client.send(nodes, ids(3))).extensions).toMatchObject({ cost: { requested: 3 } })
    expect(await client.send(nodes, ids(10_001))).toMatchObject({
      errors: [{ extensions: { code: 'QUERY_TOO_COMPLEX' } }],
    })
  })

  it('PLAT-66 is refused without counting where variables nest without end', async () => {
    const { client } = await world.member()
    const query = 'query ($filter: SpaceFilter) { spaces(first: 1, filter: $filter) { nodes { id } } }'
    const nested = (levels: number) => `${'{"not":'.repeat(levels)}{"slug":{"eq":"a"}}${'}'.repeat(levels)}`
    const ask = async (levels: number) => {
      const body = `{"query":${JSON.stringify(query)},"variables":{"filter":${nested(levels)}}}`
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${client.token}` }
      return (await (await fetch(client.url, { method: 'POST', headers, body })).json()).errors[0].extensions.code
    }
    expect(await ask(50_000)).toBe('QUERY_TOO_COMPLEX')
    expect(await ask(40)).toBe('BAD_REQUEST') // the filter's own bound
  })

  it('PLAT-71 is told by rateLimit as well', async () => {
    const { client } = await world.member()

    const { rateLimit } = await client.run('{ rateLimit { limit cost remaining resetAt } }')

    expect(rateLimit).toEqual({ limit: 20, cost: 1, remaining: 19, resetAt: expect.stringMatching(/Z$/) })
  })

  it('PLAT-69 over the minute is refused, and the refusal costs nothing', async () => {
    const { client } = await world.member()
    const costly = `{ ${Array.from({ length: 15 }, (_, n) => `a${n}: serverInfo { version }`).join(' ')} }`

    expect((await client.send(costly)).errors).toBeUndefined()
    const refused = await client.post(costly)
    expect(refused.status).toBe(429)
    expect(await refused.json()).toMatchObject({ errors: [{ extensions: { code: 'RATE_LIMITED' } }] })
    expect((await client.send(QUERY)).extensions).toMatchObject({ cost: { remaining: 4 } })
  })
})
