import { randomBytes } from 'node:crypto'
import {
  Client,
  type ClientOptions,
  cacheExchange,
  fetchExchange,
  type OperationResult,
  subscriptionExchange,
} from '@urql/core'
import { createClient as createSocket } from 'graphql-ws'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'
import { openStreams, untilStreams } from './open-streams.ts'

const CREATE_SPACE = `mutation CreateSpace($input: SpaceCreateInput!) {
  spaceCreate(input: $input) {
    __typename
    ... on SpaceCreatePayload { space { __typename id name } }
    ... on InvalidInputError { code message issues { path message } }
    ... on Error { code message }
  }
}`
const SPACES = '{ spaces { totalCount nodes { __typename id name } } }'
const WATCH = `subscription Watch($roomId: ID!) {
  roomEvents(roomId: $roomId) { __typename version ... on VoteCast { userId myCard } }
}`

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())
afterEach(() => untilStreams(world.app, 0))

const newSlug = () => `s-${randomBytes(6).toString('hex')}`

/** urql as its own documentation sets it up. */
function urql(
  token: string | undefined,
  exchanges: ClientOptions['exchanges'],
  more: Partial<ClientOptions> = {},
): Client {
  return new Client({
    url: `${world.app.url}/graphql`,
    exchanges,
    preferGetMethod: false,
    fetchOptions: { headers: token ? { authorization: `Bearer ${token}` } : {} },
    ...more,
  })
}

const overHttp = ({ client }: Actor) => urql(client.token, [cacheExchange, fetchExchange])

describe('queries and mutations of urql', () => {
  it('PLAT-63 reads a list, creates by a mutation, and the document cache reads the list again', async () => {
    const client = overHttp(await world.member())
    const lists: number[] = []
    const watching = client.query(SPACES, {}).subscribe(({ data, stale }) => {
      if (!stale) lists.push(data.spaces.totalCount)
    })
    await vi.waitFor(() => expect(lists.length).toBe(1), { timeout: 30_000 })

    const input = { slug: newSlug(), name: 'Made by urql' }
    const { data, error } = await client.mutation(CREATE_SPACE, { input }).toPromise()

    expect(error).toBeUndefined()
    expect(data.spaceCreate).toMatchObject({ __typename: 'SpaceCreatePayload', space: { name: 'Made by urql' } })
    await vi.waitFor(() => expect(lists).toEqual([lists[0], lists[0]! + 1]), { timeout: 30_000 })
    watching.unsubscribe()
  })

  it('PLAT-63 gets what a caller can act on as data, and only what cuts across as an error', async () => {
    const member = await world.member()
    const client = overHttp(member)
    const create = (input: object) => client.mutation(CREATE_SPACE, { input }).toPromise()

    const invalid = await create({ slug: 'Not A Slug', name: 'x' })
    expect(invalid.error).toBeUndefined()
    expect(invalid.data.spaceCreate).toMatchObject({
      __typename: 'InvalidInputError',
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'slug'] }],
    })
    const taken = await create({ slug: world.home.slug, name: 'x' })
    expect(taken.error).toBeUndefined()
    expect(taken.data.spaceCreate).toMatchObject({ __typename: 'ConflictError', code: 'CONFLICT' })

    const nobody = await urql(undefined, [fetchExchange]).mutation(CREATE_SPACE, { input: { slug: 'a', name: 'a' } })
    expect(nobody.error?.response.status).toBe(401)
    expect(nobody.error?.graphQLErrors[0]?.extensions).toMatchObject({ code: 'UNAUTHENTICATED' })
    expect(nobody.error?.networkError).toBeUndefined()
    const unknown = await client.query('{ nothing }', {})
    expect(unknown.error?.graphQLErrors[0]?.extensions).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' })
  })

  it('PLAT-68 queries by GET, which urql prefers for short ones, and mutates by POST', async () => {
    const methods: string[] = []
    const client = urql((await world.member()).client.token, [fetchExchange], {
      preferGetMethod: true,
      fetch: (url, init) => {
        methods.push(init?.method ?? 'GET')
        return fetch(url, init)
      },
    })
    expect((await client.query(SPACES, {})).data.spaces.nodes).toContainEqual(
      expect.objectContaining({ id: world.home.id }),
    )
    const made = await client.mutation(CREATE_SPACE, { input: { slug: newSlug(), name: 'By POST' } })
    expect(made.data.spaceCreate.__typename).toBe('SpaceCreatePayload')
    expect(methods).toEqual(['GET', 'POST'])
  })
})

describe('subscriptions of urql', () => {
  const transports: [name: string, connect: (actor: Actor) => { client: Client; close(): void }][] = [
    [
      'server-sent events',
      ({ client: { token } }) => {
        const client = urql(token, [fetchExchange], { fetchSubscriptions: true })
        return { client, close: () => {} }
      },
    ],
    [
      'graphql-ws',
      ({ client: { token } }) => {
        const socket = createSocket({
          url: `${world.app.url.replace(/^http/, 'ws')}/graphql`,
          webSocketImpl: WebSocket,
          connectionParams: { authorization: `Bearer ${token}` },
        })
        const exchange = subscriptionExchange({
          forwardSubscription: ({ query = '', ...rest }) => ({
            subscribe: (sink) => ({ unsubscribe: socket.subscribe({ ...rest, query }, sink as never) }),
          }),
        })
        return { client: urql(token, [fetchExchange, exchange]), close: () => void socket.dispose() }
      },
    ],
  ]

  it.each(transports)('PLAT-30 follow a room over %s, in order, and leave nothing behind', async (_name, connect) => {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    const { client, close } = connect(host)
    // biome-ignore lint/suspicious/noExplicitAny: the document is text
    const events: any[] = []
    const errors: unknown[] = []
    const watching = client.subscription(WATCH, { roomId: room.id }).subscribe(({ data, error }) => {
      if (error) errors.push(error)
      if (data) events.push(data.roomEvents)
    })
    await vi.waitFor(() => expect(events[0]?.__typename).toBe('RoomSnapshot'), { timeout: 30_000 })

    for (const voter of voters) await voter.vote(room, '5')

    const votes = () => events.filter(({ __typename }) => __typename === 'VoteCast')
    await vi.waitFor(() => expect(votes().length).toBe(2), { timeout: 30_000 })
    expect(votes().map(({ userId }) => userId)).toEqual(voters.map(({ id }) => id))
    expect(votes().map(({ myCard }) => myCard)).toEqual([null, null])
    const versions = events.filter(({ version }) => version !== null).map(({ version }) => Number(version))
    expect(versions).toEqual([...new Set(versions)].toSorted((a, b) => a - b))
    expect(errors).toEqual([])

    expect(await openStreams(world.app)).toBeGreaterThan(0)
    watching.unsubscribe()
    close() // what is left open is looked for after each test
  })

  it.each(transports)('PLAT-83 hear over %s why a room does not open', async (_name, connect) => {
    const { room } = await world.pokerRoom()
    const { client, close } = connect(await world.outsider())
    const results: OperationResult[] = []
    client.subscription(WATCH, { roomId: room.id }).subscribe((result) => results.push(result))

    await vi.waitFor(() => expect(results[0]?.error).toBeDefined(), { timeout: 30_000 })
    expect(results[0]?.error?.graphQLErrors[0]?.extensions).toMatchObject({ code: 'NOT_FOUND' })
    expect(results[0]?.data?.roomEvents).toBeUndefined()
    close()
  })
})
