import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type TestSpace, type World } from '../support/world.ts'

let world: World
let space: TestSpace
let room: TestRoom
let host: Actor
let target: Actor
let people: Record<string, Actor>
beforeAll(async () => {
  world = await createWorld(await startApp())
  space = await world.space()
  ;({ room, host } = await world.pokerRoom({ space }))
  target = await world.member({ space })
  const elsewhere = await world.pokerRoom()
  people = {
    member: target,
    viewer: await world.viewer({ space }),
    anonymous: await world.anonymous({ space }),
    embedded: await world.embedded(), // of the owner of org and space
    embeddedHost: await world.embedded(host),
    guest: await world.guest(room),
    admin: await world.member({ space: null, role: 'admin' }),
    outsider: await world.outsider(),
    otherOrg: await world.otherOrg(),
    guestElsewhere: await world.guest(elsewhere.room),
    nobody: Object.create(target, { client: { value: world.app.client() } }) as Actor,
  }
})
afterAll(() => world.close())

const STRANGERS = ['admin', 'outsider', 'otherOrg', 'guestElsewhere']

/** Who of the insiders gets through, by mutation; everybody else inside is refused, and outside nothing is there. */
const INSIDE: [name: string, input: () => object, allowed: string[], forbidden: string[]][] = [
  ['spaceUpdate', () => ({ id: space.id, name: 'X' }), [], ['member', 'viewer', 'anonymous', 'embedded']],
  ['spaceMemberAdd', () => ({ id: space.id, userId: target.id }), [], ['member', 'viewer', 'anonymous', 'embedded']],
  [
    'spaceMemberRoleSet',
    () => ({ id: space.id, userId: target.id, role: 'OWNER' }),
    [],
    ['member', 'viewer', 'anonymous', 'embedded'],
  ],
  ['spaceMemberRemove', () => ({ id: space.id, userId: target.id }), [], ['member', 'viewer', 'anonymous', 'embedded']],
  ['spaceSeen', () => ({ id: space.id }), ['member', 'viewer', 'anonymous', 'embedded'], []],
  ['spaceSpectatorSet', () => ({ id: space.id, spectator: false }), ['member', 'anonymous', 'embedded'], ['viewer']],
  [
    'roomRename',
    () => ({ roomId: room.id, title: 'X' }),
    [],
    ['member', 'viewer', 'anonymous', 'embedded', 'embeddedHost', 'guest'],
  ],
  ['roomEnd', () => ({ roomId: room.id }), [], ['member', 'viewer', 'anonymous', 'embedded', 'embeddedHost', 'guest']],
  [
    'roomReopen',
    () => ({ roomId: room.id }),
    [],
    ['member', 'viewer', 'anonymous', 'embedded', 'embeddedHost', 'guest'],
  ],
  ['roomDelete', () => ({ id: room.id }), [], ['member', 'viewer', 'anonymous', 'embedded', 'embeddedHost', 'guest']],
  [
    'roomTimerStart',
    () => ({ roomId: room.id, seconds: 60 }),
    [],
    ['member', 'viewer', 'anonymous', 'embedded', 'embeddedHost', 'guest'],
  ],
  [
    'roomTimerExtend',
    () => ({ roomId: room.id, seconds: 60 }),
    [],
    ['member', 'viewer', 'anonymous', 'embedded', 'embeddedHost', 'guest'],
  ],
  [
    'roomTimerStop',
    () => ({ roomId: room.id }),
    [],
    ['member', 'viewer', 'anonymous', 'embedded', 'embeddedHost', 'guest'],
  ],
  ['roomFacilitatorClaim', () => ({ roomId: room.id }), [], ['viewer', 'embedded', 'embeddedHost', 'guest']],
  [
    'roomHeartbeat',
    () => ({ roomId: room.id, connectionId: randomUUID() }),
    ['member', 'viewer', 'anonymous', 'embedded', 'embeddedHost', 'guest'],
    [],
  ],
  [
    'roomLeave',
    () => ({ roomId: room.id, connectionId: randomUUID() }),
    ['member', 'viewer', 'anonymous', 'embedded', 'embeddedHost', 'guest'],
    [],
  ],
]

it.each(INSIDE)(
  'ROOM-6, 22, 40 %s answers each kind of caller as the rules say',
  async (name, input, allowed, forbidden) => {
    const codes: Record<string, string> = {}
    for (const [who, actor] of Object.entries(people)) {
      if (![...allowed, ...forbidden, ...STRANGERS, 'nobody'].includes(who)) continue
      const { data, errors } = await actor.attempt(name, input())
      codes[who] = data?.[name]?.code ?? errors?.[0]?.extensions.code ?? 'ok'
    }
    expect(codes).toEqual({
      ...Object.fromEntries(allowed.map((who) => [who, 'ok'])),
      ...Object.fromEntries(forbidden.map((who) => [who, 'FORBIDDEN'])),
      ...Object.fromEntries(STRANGERS.map((who) => [who, 'NOT_FOUND'])),
      nobody: 'UNAUTHENTICATED',
    })
  },
)

it('ROOM-6 answers for a room of strangers as for none at all', async () => {
  const { outsider } = people as { outsider: Actor }
  const gone = (await world.pokerRoom()).room
  await world.sql('DELETE FROM rooms.rooms WHERE id = $1', [gone.uuid])
  const [hidden, missing] = [
    await outsider.mutate('roomEnd', { roomId: room.id }),
    await outsider.mutate('roomEnd', { roomId: gone.id }),
  ]
  expect(hidden).toEqual(missing)
})

it('PLAT-58 refuses an id of another type or none, naming the argument', async () => {
  for (const id of [space.id, room.uuid, 'x', `rom_${'0'.repeat(26)}`, '']) {
    expect(await host.mutate('roomEnd', { roomId: id })).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'roomId'] }],
    })
  }
})

it('ROOM-6 shows who was there, and where, to members alone in the audit log', async () => {
  const log = `{ auditEvents(filter: { type: { eq: "room.created" } }) { nodes { space { slug } room { title } } } }`
  const input = {
    spaceId: space.id,
    kind: 'poker',
    title: 'Logged',
    config: { poker: { deck: { preset: 'T_SHIRT' } } },
  }
  const made = await host.mutate('roomCreate', input, 'room { id }')
  const read = async (actor: Actor) => (await actor.run(log)).auditEvents.nodes
  expect(await read(world.owner)).toEqual([{ space: { slug: space.slug }, room: { title: 'Logged' } }])
  expect(await read(people['admin']!)).toEqual([{ space: null, room: null }])

  await host.mutate('roomDelete', { id: made.room.id })
  expect(await read(world.owner)).toEqual([{ space: { slug: space.slug }, room: null }])
})
