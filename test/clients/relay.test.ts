import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildSchema, type GraphQLSchema, getNamedType, isObjectType } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'
import { RELAY_DOCUMENTS } from './relay-documents.ts'
import { compileRelay } from './relay-project.ts'

const SDL = await readFile(join(import.meta.dirname, '../../schema.graphql'), 'utf8')
const compiled = await compileRelay(SDL, RELAY_DOCUMENTS)

describe("Relay's compiler", () => {
  it('PLAT-61 takes the schema with its lists, nodes, mutations and live events', () => {
    expect(compiled.complaint).toBeUndefined()
    const documents = [
      ...Object.values(RELAY_DOCUMENTS)
        .join()
        .matchAll(/queryName: "(\w+)"|(?:mutation|subscription) (\w+)/g),
    ]
    expect([...compiled.texts.keys()].toSorted()).toEqual(documents.map(([, page, name]) => page ?? name).toSorted())
  })

  it('PLAT-61 pages through every connection of the schema', async () => {
    const documents = connectionDocuments(buildSchema(SDL))
    expect(Object.keys(documents).length).toBeGreaterThanOrEqual(15)
    const { complaint, texts } = await compileRelay(SDL, documents)
    expect(complaint).toBeUndefined()
    expect(texts.size).toBe(Object.keys(documents).length)
  })

  it.each<[convention: string, from: RegExp, to: string, complaint: RegExp]>([
    ['a node is had by its id', /^ {2}node\(\n(.*\n)*? {2}\): Node$/m, '', /@refetchable on fragment 'anyNode_label'/],
    [
      'an edge has a cursor',
      /^type RoomEdge \{\n(.*\n)*?\}$/m,
      'type RoomEdge { node: Room! }',
      /'edges \{ cursor \}'/,
    ],
    ['an edge has a node', /^type RoomEdge \{\n(.*\n)*?\}$/m, 'type RoomEdge { cursor: String! }', /no field `node`/],
    ['a page tells whether more follow', /^ {2}hasNextPage: Boolean!$/m, '', /'pageInfo \{ hasNextPage \}'/],
    ['a page tells where it ends', /^ {2}endCursor: String$/m, '', /'pageInfo \{ endCursor \}'/],
    [
      'what can be had again is a Node',
      /^type Space implements Node \{/m,
      'type Space {',
      /type 'Space'.* parent type 'Node'/,
    ],
    [
      'what a deletion names is an ID',
      /(?<=^type SpaceDeletePayload \{\n(.*\n)*?) {2}spaceId: ID!$/m,
      '  spaceId: String!',
      /Expected field type 'ID'/,
    ],
  ])('PLAT-61 would tell if it were not so that %s', async (_convention, from, to, complaint) => {
    const broken = SDL.replace(from, to)
    expect(broken).not.toBe(SDL)
    expect((await compileRelay(broken, RELAY_DOCUMENTS)).complaint).toMatch(complaint)
  })
})

describe('what it makes of them', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(await startApp())
  })
  afterAll(() => world.close())

  type Page = {
    edges: { node: Record<string, unknown> }[]
    pageInfo: { endCursor: string | null; hasNextPage: boolean }
  }

  /** Page by page, as `usePaginationFragment` asks for them. */
  async function pagesOf(actor: Pick<Actor, 'run'>, name: string, path: string[], variables: object = {}) {
    const nodes: Record<string, unknown>[] = []
    for (let cursor: string | null = null, pages = 0; pages < 10; pages++) {
      const answer = await actor.run(compiled.texts.get(name)!, { count: 2, cursor, ...variables })
      const { edges, pageInfo } = path.reduce((at, field) => at[field], answer) as Page
      nodes.push(...edges.map(({ node }) => node))
      if (!pageInfo.hasNextPage) return nodes
      cursor = pageInfo.endCursor
    }
    throw new Error('more pages than there can be')
  }

  it.each([
    ['members', 'userId', 4],
    ['spaces', 'id', 3],
    ['agents', 'id', 3],
    ['apiKeys', 'id', 3],
    ['webhooks', 'id', 3],
    ['auditEvents', 'id', 6],
  ] as const)('PLAT-61 pages through %s on a server', async (list, id, atLeast) => {
    await populate()
    const nodes = await pagesOf(world.owner, `${list}PageQuery`, [list])
    expect(nodes.length).toBeGreaterThanOrEqual(atLeast)
    expect(new Set(nodes.map((node) => node[id])).size).toBe(nodes.length)
  })

  it("PLAT-31 pages through the viewer's sessions and, by its node, through the rooms of a space", async () => {
    const again = await world.signIn(world.owner)
    await world.signIn(world.owner)
    expect((await pagesOf(again, 'sessionsPageQuery', ['viewer', 'sessions'])).length).toBeGreaterThanOrEqual(3)

    const space = await world.space()
    const rooms = []
    for (let at = 0; at < 5; at++) rooms.push((await world.pokerRoom({ space, host: world.owner })).room.id)
    const listed = await pagesOf(world.owner, 'roomsPageQuery', ['node', 'rooms'], { id: space.id })
    expect(listed.map(({ id }) => id).toSorted()).toEqual(rooms.toSorted())
    expect(await pagesOf(world.owner, 'roomsPageQuery', ['node', 'rooms'], { id: space.id, count: 100 })).toEqual(
      listed,
    )
  })

  it('PLAT-31 refetches a node by its id, whatever it is, and nothing that is not to be seen', async () => {
    const { room, host } = await world.pokerRoom()
    const text = compiled.texts.get('anyNodeQuery')!
    const seen = async (id: string, actor: Pick<Actor, 'run'> = host) => (await actor.run(text, { id })).node
    expect(await seen(room.id)).toMatchObject({ __typename: 'Room', id: room.id, title: 'Planning' })
    expect(await seen(world.home.id)).toMatchObject({ __typename: 'Space', id: world.home.id })
    expect(await seen(host.id)).toMatchObject({ __typename: 'User', id: host.id })
    expect(await seen(room.id, await world.outsider())).toBeNull()
    expect((await host.run(compiled.texts.get('roomsStateQuery')!, { id: room.id })).node).toMatchObject({
      __typename: 'Room',
      poker: { revealed: false },
    })
  })

  let populated: Promise<void> | undefined
  const populate = () => {
    populated ??= (async () => {
      for (let at = 0; at < 3; at++) {
        await Promise.all([world.member(), world.agent(), world.space({ owner: world.owner })])
        for (const type of ['space.created', 'room.created']) {
          const input = { url: `https://example.org/${type}/${at}`, eventTypes: [type] }
          expect(await world.owner.mutate('webhookCreate', input)).toMatchObject({ __typename: 'WebhookCreatePayload' })
        }
      }
    })()
    return populated
  }
})

/** For each field that gives a connection a fragment that pages through it and can be had again. */
function connectionDocuments(schema: GraphQLSchema): Record<string, string> {
  const documents: Record<string, string> = {}
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    const isNode = type.getInterfaces().some(({ name }) => name === 'Node')
    for (const { name, type: of, args } of Object.values(type.getFields())) {
      const connection = getNamedType(of)
      if (!isObjectType(connection) || !connection.name.endsWith('Connection')) continue
      const file = `${type.name.toLowerCase()}${name[0]!.toUpperCase()}${name.slice(1)}`
      const others = args.filter((arg) => !['first', 'last', 'before', 'after'].includes(arg.name))
      const definitions = others.map((arg) => `${arg.name}: { type: "${arg.type}" }`)
      const given = others.map((arg) => `${arg.name}: $${arg.name}`)
      const field = `${name}(${['first: $count', 'after: $cursor', ...given].join(' ')})
        @connection(key: "${file}_${name}") { ${'totalCount' in connection.getFields() ? 'totalCount' : ''} edges { node { __typename } } }`
      const root = isNode || type.name === 'Query' ? type.name : 'Query'
      const wrapper = root === type.name ? field : `${fieldOfQuery(schema, type.name)} { ${field} }`
      documents[file] = `fragment ${file}_list on ${root}
        @argumentDefinitions(count: { type: "Int", defaultValue: 10 } cursor: { type: "String" } ${definitions.join(' ')})
        @refetchable(queryName: "${file}PageQuery") { ${wrapper} }`
    }
  }
  return documents
}

/** Where a type that is no node is found: a field of the root that needs no arguments. */
function fieldOfQuery(schema: GraphQLSchema, typeName: string): string {
  const field = Object.values(schema.getQueryType()!.getFields()).find(
    ({ type, args }) => getNamedType(type).name === typeName && args.length === 0,
  )
  if (!field) throw new Error(`${typeName} has a connection and is neither a node nor a field of the root`)
  return field.name
}
