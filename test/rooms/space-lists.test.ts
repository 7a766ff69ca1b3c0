import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startApp } from '../support/app.ts'
import { createWorld, type TestSpace, type World } from '../support/world.ts'

let world: World
const statements: string[] = []
const spaces: TestSpace[] = []

beforeAll(async () => {
  world = await createWorld(await startApp())
  spaces.push(world.home)
  while (spaces.length < 20) spaces.push(await world.space())
  for (const [at, space] of spaces.entries()) {
    for (let room = 0; room <= at % 3; room++) await world.pokerRoom({ space, voters: room, stories: 0 })
  }
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [statement] = args as [string | { text?: string }]
    statements.push(typeof statement === 'string' ? statement : (statement.text ?? ''))
    return query.apply(this, args)
  } as never)
})
afterAll(() => world.close())

const LISTS = `id
  members(first: 2) { totalCount nodes { role user { displayName } } pageInfo { hasNextPage } }
  rooms(first: 1) { totalCount edges { cursor node { id title space { slug } } } }
  oldest: rooms(last: 1) { nodes { id createdAt } }
  none: rooms(filter: { title: { eq: "no such room" } }) { totalCount nodes { id } }`
const costOf = async (document: string, first: number) => {
  statements.length = 0
  const answer = await world.owner.run(document, { first })
  const cost = statements.filter((text) => /"rooms"\.|unnest/.test(text)).length // a sweep may run beside it
  return { answer, cost }
}

describe('PLAT-61', () => {
  it.each([
    ['spaces', `query ($first: Int) { spaces(first: $first) { nodes { ${LISTS} } } }`],
    ['viewer.spaces', `query ($first: Int) { viewer { spaces(first: $first) { nodes { ${LISTS} } } } }`],
  ])('PLAT-61 reads the lists of 2 and of 20 spaces with as many statements: %s', async (path, document) => {
    const two = await costOf(document, 2)
    const twenty = await costOf(document, 20)
    expect(two.cost).toBeGreaterThan(0)
    expect(twenty.cost).toBe(two.cost)
    const { nodes } = path === 'spaces' ? twenty.answer.spaces : twenty.answer.viewer.spaces
    expect(nodes).toHaveLength(20)
  })

  it('PLAT-61 gives every space its own rows, under each alias those its arguments ask for', async () => {
    const { spaces: found } = await world.owner.run(`{ spaces(first: 20) { nodes { ${LISTS} } } }`)
    for (const [at, space] of spaces.entries()) {
      const rooms = await world.sql<{ id: string }>(
        'SELECT id FROM rooms.rooms WHERE space_id = $1 ORDER BY created_at DESC, id DESC',
        [space.uuid],
      )
      const listed = found.nodes.find(({ id }: { id: string }) => id === space.id)
      expect(listed.rooms.totalCount).toBe((at % 3) + 1)
      expect(listed.rooms.edges[0].node).toMatchObject({ space: { slug: space.slug } })
      const one = await world.owner.run(
        `query ($id: ID!, $after: String) { space(id: $id) {
          first: rooms(first: 1) { nodes { id } } rest: rooms(after: $after) { nodes { id } } oldest: rooms(last: 1) { nodes { id } }
        } }`,
        { id: space.id, after: listed.rooms.edges[0].cursor },
      )
      expect(one.space.first.nodes[0].id).toBe(listed.rooms.edges[0].node.id)
      expect(one.space.rest.nodes).toHaveLength(rooms.length - 1)
      expect(one.space.oldest.nodes[0].id).toBe(listed.oldest.nodes[0].id)
      expect(listed.oldest.nodes).toHaveLength(1)
      expect(listed.oldest.nodes[0].id === listed.rooms.edges[0].node.id).toBe(rooms.length === 1)
      expect(listed.none).toEqual({ totalCount: 0, nodes: [] })
      const members = await world.sql('SELECT FROM rooms.space_members WHERE space_id = $1', [space.uuid])
      expect(listed.members.totalCount).toBe(members.length)
      expect(listed.members.nodes).toHaveLength(Math.min(2, members.length))
      expect(listed.members.pageInfo.hasNextPage).toBe(members.length > 2)
    }
  })
})
