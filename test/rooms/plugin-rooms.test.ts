import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { act, play, RETRO, RetroPlugin, retroRoom } from '../support/retro-plugin.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
let plugin: RetroPlugin
let installId: string
let host: Actor
let member: Actor
let room: TestRoom

beforeAll(async () => {
  world = await createWorld(await startApp())
  plugin = new RetroPlugin()
})
afterAll(() => world.close())
beforeEach(async () => {
  plugin.act = play
  installId = await plugin.install(world.org.id)
  host = await world.member()
  member = await world.member()
  room = await retroRoom(world, host, [member])
})

const versionOf = async () => (await host.room(room, 'version')).version
const offered = async (who: Actor) =>
  (
    await who.run('query ($id: ID!) { node(id: $id) { ... on Space { kinds { kind provider actions } } } }', {
      id: world.home.id,
    })
  ).node.kinds
const create = (who: Actor, config: object, kind = 'retro') =>
  who.mutate('roomCreate', { spaceId: world.home.id, kind, title: 'Retro', config }, 'room { id }')

it('ROOM-30, ROOM-160 a room of a declared kind begins in its first phase, with the state and config that fit', async () => {
  expect(
    await host.room(room, 'kind phase state config { __typename ... on PluginConfig { values } } poker { revealed }'),
  ).toEqual({
    kind: 'retro',
    phase: 'collect',
    state: { shared: { cards: [] }, private: null },
    config: { __typename: 'PluginConfig', values: { columns: ['Good'] } },
    poker: null,
  })
  for (const values of [{}, { columns: [] }, { columns: ['a'], more: 1 }, [], 'text']) {
    expect(await create(host, { plugin: values })).toMatchObject({ code: 'INVALID_INPUT' })
  }
  expect(await create(host, { standup: {} })).toMatchObject({ code: 'INVALID_INPUT' })
  expect(await create(host, { plugin: { columns: ['x'] } }, 'poker')).toMatchObject({ code: 'INVALID_INPUT' })
  expect(await create(host, { plugin: { columns: ['é'.repeat(20_000)] } })).toMatchObject({ code: 'INVALID_INPUT' })
})

it('ROOM-31, ROOM-163 offers a kind while its install is enabled, and none to another org', async () => {
  const retro = expect.objectContaining({ kind: 'retro', provider: 'retro', actions: RETRO.declaration })
  expect(await offered(member)).toContainEqual(retro)
  plugin.disable(installId)
  expect((await offered(member)).map(({ kind }: { kind: string }) => kind)).toEqual(['poker', 'standup'])
  expect(await create(host, { plugin: { columns: ['x'] } })).toMatchObject({
    code: 'NOT_FOUND',
    path: ['input', 'kind'],
  })
  const stranger = await world.otherOrg()
  expect(
    await stranger.mutate('roomCreate', {
      spaceId: stranger.space.id,
      kind: 'retro',
      title: 'Retro',
      config: { plugin: { columns: ['x'] } },
    }),
  ).toMatchObject({ code: 'NOT_FOUND' })
})

it('ROOM-161 checks the action, who acts, the phase and the input before it asks the plugin', async () => {
  const before = await versionOf()
  plugin.calls.length = 0
  for (const action of ['nothing', 'constructor', '__proto__', 'toString']) {
    expect(await act(host, room, action)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'action'] })
  }
  expect(await act(member, room, 'discuss')).toMatchObject({ code: 'FORBIDDEN' })
  expect(await act(host, room, 'back')).toMatchObject({ code: 'WRONG_PHASE', phase: 'collect' })
  expect(await act(member, room, 'draft', { text: 1 })).toMatchObject({
    code: 'INVALID_INPUT',
    issues: [{ path: ['input', 'input', 'text'] }],
  })
  expect(await act(member, room, 'draft', { text: 'x', more: 'y' })).toMatchObject({ code: 'INVALID_INPUT' })
  expect(await act(member, room, 'draft', JSON.parse('{"text":"x","__proto__":{"admin":true}}'))).toMatchObject({
    code: 'INVALID_INPUT',
  })
  let deep: unknown = 'x'
  for (let at = 0; at < 200; at++) deep = [deep]
  expect(
    (await member.attempt('roomAct', { roomId: room.id, action: 'draft', input: deep })).data?.['roomAct'],
  ).not.toMatchObject({ __typename: 'RoomActPayload' })
  const outsider = await world.outsider()
  expect(await act(outsider, room, 'draft', { text: 'x' })).toMatchObject({
    code: 'NOT_FOUND',
    path: ['input', 'roomId'],
  })
  const { room: poker } = await world.pokerRoom({ host })
  expect(await act(host, poker, 'draft', { text: 'x' })).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'action'] })
  expect(plugin.calls).toEqual([])
  expect(await versionOf()).toBe(before)
})

it('ROOM-22, ROOM-161 lets guests act as participants, agents and spectators as members, and viewers not at all', async () => {
  const guest = await world.guest(room)
  const agent = await world.agent({ spectator: true })
  const viewer = await world.viewer()
  const embedded = await world.embedded(host)
  expect(await act(guest, room, 'draft', { text: 'of the guest' })).toMatchObject({
    room: { state: { private: ['of the guest'] } },
  })
  expect(await act(guest, room, 'remark', { text: 'x' })).toMatchObject({ code: 'FORBIDDEN' })
  expect(await act(agent, room, 'remark', { text: 'of the agent' })).toMatchObject({ __typename: 'RoomActPayload' })
  expect(await act(agent, room, 'discuss')).toMatchObject({ code: 'FORBIDDEN' })
  expect(await act(viewer, room, 'draft', { text: 'x' })).toMatchObject({ code: 'FORBIDDEN' })
  expect(await act(embedded, room, 'discuss')).toMatchObject({ code: 'FORBIDDEN' })
  expect(await act(embedded, room, 'draft', { text: 'in a meeting' })).toMatchObject({ __typename: 'RoomActPayload' })
  const roles = new Map(plugin.calls.map(({ actor }) => [actor.id, actor]))
  expect(roles.get(guest.id)).toEqual({ id: guest.id, role: 'guest', spectator: false })
  expect(roles.get(agent.id)).toEqual({ id: agent.id, role: 'member', spectator: true })
  expect(roles.get(host.id)).toEqual({ id: host.id, role: 'member', spectator: false })
})

it('ROOM-162 gives each viewer the shared part and their own, on every path', async () => {
  const guest = await world.guest(room)
  await world.attend(room, guest)
  const query = `subscription ($roomId: ID!, $sinceVersion: BigInt) { roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) {
    __typename version ... on RoomSnapshot { room { state } } ... on RoomActionApplied { action phase state } } }`
  const follow = (who: Actor, variables = {}) =>
    openRoomStream({
      url: `${world.app.url}/graphql`,
      token: who.client.token!,
      variables: { roomId: room.id, ...variables },
      query,
    })
  const streams = [host, member, guest].map((who) => follow(who))
  for (const stream of streams) await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
  const since = await versionOf()
  await act(member, room, 'draft', { text: 'secretofmember' })
  await act(guest, room, 'draft', { text: 'secretofguest' })
  const third = await act(host, room, 'remark', { text: 'for all' })
  expect(third['room'].state).toEqual({ shared: { cards: ['for all'] }, private: null })
  for (const stream of streams) await stream.next(({ version }) => version === third['room'].version)

  const last = streams.map(
    ({ events }) => events.findLast(({ __typename }) => __typename === 'RoomActionApplied').state,
  )
  expect(last).toEqual([
    { shared: { cards: ['for all'] }, private: null },
    { shared: { cards: ['for all'] }, private: ['secretofmember'] },
    { shared: { cards: ['for all'] }, private: ['secretofguest'] },
  ])
  const [ofHost, ofMember, ofGuest] = streams.map(({ answers }) => JSON.stringify(answers))
  expect(ofHost).not.toContain('secretof')
  expect(ofMember).not.toContain('secretofguest')
  expect(ofGuest).not.toContain('secretofmember')

  const late = follow(member, { sinceVersion: since })
  await late.next(({ version }) => version === third['room'].version)
  const replayed = late.events.filter(({ __typename }) => __typename === 'RoomActionApplied')
  expect(replayed.map(({ state }) => state)).toEqual([null, null, last[1]])
  for (const stream of [...streams, late]) stream.close()

  const kept = JSON.stringify([
    await world.events(room),
    await world.sql('SELECT * FROM platform.audit_events WHERE room_id = $1', [room.uuid]),
    world.app.log(),
  ])
  expect(kept).not.toContain('secretof')
  expect((await world.facts({ room })).filter((name) => name === 'room.acted')).toHaveLength(3)
})

it('ROOM-161 counts both of two actions at once', async () => {
  await Promise.all([act(host, room, 'remark', { text: 'one' }), act(member, room, 'remark', { text: 'two' })])
  const { state } = await host.room(room, 'state')
  expect(state.shared.cards.toSorted()).toEqual(['one', 'two'])
})

it('ROOM-161 gives up with a conflict after three tries', async () => {
  const before = plugin.calls.length
  plugin.act = async (call, signal) => {
    await host.mutate('roomRename', { roomId: room.id, title: `Title ${plugin.calls.length}` })
    return play(call, signal)
  }
  expect(await act(member, room, 'draft', { text: 'x' })).toMatchObject({ code: 'CONFLICT' })
  expect(plugin.calls.length - before).toBe(3)
  expect((await member.room(room, 'state')).state.private).toBe(null)
})

it('ROOM-33, ROOM-161 an action that leads to `done` ends the room, and reopening begins anew with what is on the board', async () => {
  await act(member, room, 'remark', { text: 'kept' })
  expect(await act(host, room, 'discuss')).toMatchObject({ room: { phase: 'discuss', endedAt: null } })
  expect(await act(member, room, 'draft', { text: 'x' })).toMatchObject({ code: 'WRONG_PHASE', phase: 'discuss' })
  expect(await act(host, room, 'back')).toMatchObject({ room: { phase: 'collect' } })
  await host.mutate('roomTimerStart', { roomId: room.id, seconds: 60, onEnd: 'NONE' })
  const closed = await act(host, room, 'close')
  expect(closed['room']).toMatchObject({ phase: 'done', endedAt: expect.any(String) })
  expect((await world.facts({ room })).slice(-3)).toEqual(expect.arrayContaining(['room.acted', 'room.ended']))
  expect((await host.room(room, 'timer { endsAt }')).timer).toBe(null)
  const [row] = await world.sql('SELECT first_ended_at = ended_at AS first FROM rooms.rooms WHERE id = $1', [room.uuid])
  expect(row).toEqual({ first: true })
  expect(await act(host, room, 'close')).toMatchObject({ code: 'ROOM_ENDED' })
  expect(await host.mutate('roomReopen', { roomId: room.id }, 'room { phase state endedAt }')).toMatchObject({
    room: { phase: 'collect', endedAt: null, state: { shared: { cards: ['kept'] } } },
  })
})

it('ROOM-161 end comes first: an action under way finds the room ended', async () => {
  plugin.act = async (call, signal) => {
    await host.mutate('roomEnd', { roomId: room.id })
    return play(call, signal)
  }
  expect(await act(member, room, 'draft', { text: 'x' })).toMatchObject({ code: 'ROOM_ENDED' })
  expect((await member.room(room, 'phase state')).state.private).toBe(null)
})

it('ROOM-163 an action under way finds the plugin disabled or gone', async () => {
  for (const off of [() => plugin.disable(installId), () => plugin.uninstall(world.org.id, installId)]) {
    plugin.act = async (call, signal) => {
      await off()
      return play(call, signal)
    }
    const before = await versionOf()
    expect(await act(member, room, 'draft', { text: 'x' })).toMatchObject({ code: 'PLUGIN_DISABLED' })
    expect(await versionOf()).toBe(before)
    plugin.enable(installId)
  }
})

it('ROOM-161 a plugin that hangs holds nothing up, and is a fault that may pass', async () => {
  const impatient = new RetroPlugin(1_500)
  installId = await impatient.install(world.org.id)
  let aborted = false
  impatient.act = (_call, signal) => {
    signal.addEventListener('abort', () => {
      aborted = true
    })
    return new Promise(() => {})
  }
  try {
    const pending = Promise.all(Array.from({ length: 20 }, () => act(member, room, 'draft', { text: 'x' })))
    await vi.waitFor(() => expect(impatient.calls.length).toBe(20), 15_000)
    const [{ open }] = (await world.sql(
      `SELECT count(*)::integer AS open FROM pg_stat_activity
       WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'`,
    )) as [{ open: number }]
    expect(open).toBe(0)
    expect(await host.mutate('roomRename', { roomId: room.id, title: 'Meanwhile' }, 'room { title }')).toMatchObject({
      room: { title: 'Meanwhile' },
    })
    for (const answer of await pending) expect(answer).toMatchObject({ code: 'PLUGIN_FAULT', retryable: true })
    expect(aborted).toBe(true)
  } finally {
    plugin = new RetroPlugin()
  }
})

it('ROOM-161, ROOM-162 whatever a plugin says that a room cannot be is a fault, and the room is as before', async () => {
  const before = await host.room(room, 'version phase state')
  const cyclic: { shared?: unknown } = {}
  cyclic.shared = cyclic
  let deep: unknown = 'x'
  for (let at = 0; at < 30_000; at++) deep = [deep]
  const stranger = await world.outsider()
  const answers: unknown[] = [
    null,
    'text',
    { state: 'text' },
    { state: { shared: 1, private: {}, more: 1 } },
    { state: { shared: 1, private: [] } },
    { state: { shared: 'x'.repeat(262_145), private: {} } },
    { state: { shared: Array.from({ length: 90_000 }, () => 1), private: {} } }, // fits as sent, not as it is stored
    { state: { shared: 'a\u0000b', private: {} } },
    { state: { shared: '\ud800', private: {} } },
    { state: { shared: deep, private: {} } },
    { state: cyclic },
    { state: { shared: 1n, private: {} } },
    { state: { shared: 1, private: { [stranger.id]: 1 } } },
    { state: { shared: 1, private: { [member.userId]: 1 } } },
    { state: { shared: 1, private: JSON.parse('{"__proto__": 1}') } },
    { phase: 'elsewhere' },
    { phase: 1 },
    { phase: 'constructor' },
    { more: 1 },
    { refused: { code: 'other', message: 'x' } },
    { refused: null },
  ]
  for (const answer of answers) {
    plugin.act = async () => answer as never
    expect(await act(member, room, 'draft', { text: 'x' })).toMatchObject({ code: 'PLUGIN_FAULT', retryable: false })
  }
  plugin.act = async () => {
    throw new Error('secretofplugin')
  }
  const thrown = await act(member, room, 'draft', { text: 'x' })
  expect(thrown).toMatchObject({ code: 'PLUGIN_FAULT', retryable: false })
  expect(JSON.stringify(thrown) + world.app.log()).not.toContain('secretofplugin')
  plugin.act = async () => ({ phase: 'done' })
  expect(await act(host, room, 'discuss')).toMatchObject({ code: 'PLUGIN_FAULT' }) // it says that it leads elsewhere
  expect(await host.room(room, 'version phase state')).toEqual(before)
})

it('ROOM-161 a refusal is the error that the plugin names', async () => {
  const before = await versionOf()
  for (const [code, answered] of [
    ['invalid', 'INVALID_INPUT'],
    ['forbidden', 'FORBIDDEN'],
    ['conflict', 'CONFLICT'],
  ] as const) {
    plugin.act = async () => ({ refused: { code, message: 'm'.repeat(400) } })
    const answer = await act(member, room, 'draft', { text: 'x' })
    expect(answer.code).toBe(answered)
    expect(JSON.stringify(answer)).toContain('m'.repeat(280))
    expect(JSON.stringify(answer)).not.toContain('m'.repeat(281))
  }
  expect(await versionOf()).toBe(before)
})

it('ROOM-162 a person who left keeps no part, and the plugin is not told of it', async () => {
  await act(member, room, 'draft', { text: 'x' })
  await world.sql('DELETE FROM rooms.space_members WHERE user_id = $1', [member.userId])
  await act(host, room, 'draft', { text: 'y' })
  expect(plugin.calls.at(-1)?.state.private).toEqual({})
  const [row] = await world.sql<{ keys: string[] }>(
    `SELECT array(SELECT jsonb_object_keys(state -> 'private')) AS keys FROM rooms.rooms WHERE id = $1`,
    [room.uuid],
  )
  expect(row?.keys).toEqual([host.id])
})
