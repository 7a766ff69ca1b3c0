import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type TestSpace, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const CONFIG = 'config { ... on PokerConfig { deckName cards ordinal autoReveal openVoting } }'
const CREATED = `room {
  id title kind phase version endedAt facilitator { id } participants { user { id } } space { id }
  ${CONFIG}
}`
const PRESET = { poker: { deck: { preset: 'FIBONACCI' } } }
const create = (actor: Actor, given: object = {}) =>
  actor.mutate(
    'roomCreate',
    { spaceId: world.home.id, kind: 'poker', title: 'Planning', config: PRESET, ...given },
    CREATED,
  )
const withCards = (cards: readonly string[], ordinal = false) => ({
  config: { poker: { deck: { cards: { name: 'Own', cards, ordinal } } } },
})

async function deck(space: TestSpace, cards: readonly string[], ordinal = false): Promise<string> {
  const [row] = await world.sql<{ id: string }>(
    'INSERT INTO rooms.decks (org_id, space_id, name, cards, ordinal) VALUES ($1, $2, $3, $4, $5) RETURNING id',
    [space.orgId, space.uuid, 'House', cards, ordinal],
  )
  return encodeId('Deck', row!.id)
}

describe('ROOM-30', () => {
  it('ROOM-30 opens a room led by its maker, with the deck and settings it was given', async () => {
    const member = await world.member()
    const poker = {
      deck: { cards: { name: ' Sizes ', cards: ['S', ' M ', 'L', '?'], ordinal: true } },
      autoReveal: true,
    }
    const { room } = await create(member, { title: '  Planning ', config: { poker } })
    expect(room).toEqual({
      id: expect.stringMatching(/^rom_/),
      title: 'Planning',
      kind: 'poker',
      phase: 'active',
      version: '1',
      endedAt: null,
      facilitator: { id: member.id },
      participants: [],
      space: { id: world.home.id },
      config: { deckName: 'Sizes', cards: ['S', 'M', 'L', '?'], ordinal: true, autoReveal: true, openVoting: false },
    })
    const [row] = await world.sql(
      `SELECT facilitator_seen_at > now() - interval '5 s' AS seen FROM rooms.rooms WHERE facilitator_id = $1`,
      [member.userId],
    )
    expect(row).toEqual({ seen: true })
    const facts = await world.sql(
      `SELECT event_type, payload, space_slug, deliverable FROM platform.audit_events WHERE actor_user_id = $1`,
      [member.userId],
    )
    expect(facts).toEqual([
      { event_type: 'room.created', payload: { kind: 'poker' }, space_slug: world.home.slug, deliverable: true },
    ])
  })

  it('ROOM-57 copies a deck of the space, which changes reach no more', async () => {
    const id = await deck(world.home, ['1', '2', '4'])
    const { room } = await create(world.owner, { config: { poker: { deck: { id }, openVoting: true } } })
    const config = { deckName: 'House', cards: ['1', '2', '4'], ordinal: false, autoReveal: false, openVoting: true }
    expect(room.config).toEqual(config)
    await world.sql(`UPDATE rooms.decks SET cards = '{7,8}', name = 'Other'`)
    expect((await world.owner.room(room, CONFIG)).config).toEqual(config)
    await world.sql('DELETE FROM rooms.decks')
  })

  it('ROOM-30 knows no deck of another space', async () => {
    const outsider = await world.outsider()
    const id = await deck(outsider.space, ['1', '2'])
    expect(await create(world.owner, { config: { poker: { deck: { id } } } })).toMatchObject({
      code: 'NOT_FOUND',
      path: ['input', 'config', 'poker', 'deck', 'id'],
    })
  })

  it('ROOM-57 offers presets that are decks', async () => {
    const { deckPresets } = await world.owner.run('{ deckPresets { preset name cards ordinal } }')
    expect(deckPresets.map(({ preset }: { preset: string }) => preset)).toEqual([
      'FIBONACCI',
      'MODIFIED_FIBONACCI',
      'POWERS_OF_TWO',
      'T_SHIRT',
    ])
    for (const { preset, cards, ordinal } of deckPresets) {
      const { room } = await create(world.owner, { config: { poker: { deck: { preset } } } })
      expect(room.config).toMatchObject({ cards, ordinal })
      expect((await create(world.owner, withCards(cards, ordinal))).__typename).toBe('RoomCreatePayload')
    }
  })

  it('ROOM-55 names each wrong card', async () => {
    const refused = await create(world.owner, withCards(['1', '1.0', 'x', '', '?', '?', '5'.repeat(17)]))
    expect(refused.code).toBe('INVALID_INPUT')
    const at = ['input', 'config', 'poker', 'deck', 'cards', 'cards']
    expect(refused['issues'].map(({ path }: { path: string[] }) => path)).toEqual(
      [1, 2, 3, 5, 6].map((index) => [...at, String(index)]),
    )
    expect(await create(world.owner, withCards(['1']))).toMatchObject({ issues: [{ path: at }] })
    expect(await create(world.owner, withCards(['XS', 'XL'], true))).toMatchObject({ __typename: 'RoomCreatePayload' })
  })

  it('ROOM-55 checks a deck that was written past the server, too', async () => {
    const id = await deck(world.home, ['one', 'two'])
    expect(await create(world.owner, { config: { poker: { deck: { id } } } })).toMatchObject({ code: 'INVALID_INPUT' })
    await world.sql('DELETE FROM rooms.decks')
  })

  it.each([
    ['no config', {}],
    ['no deck', { poker: { deck: {} } }],
    ['two decks', { poker: { deck: { preset: 'FIBONACCI', cards: { name: 'X', cards: ['1', '2'] } } } }],
    ['an unknown key', { poker: { deck: { preset: 'FIBONACCI' }, colour: 'red' } }],
    ['another kind’s config', { standup: {} }],
    ['an unknown kind of config', { tea: {} }],
  ])('ROOM-30 refuses %s', async (_what, config) => {
    const before = await world.sql('SELECT count(*) FROM rooms.rooms')
    const { data, errors } = await world.owner.attempt('roomCreate', {
      spaceId: world.home.id,
      kind: 'poker',
      title: 'X',
      config,
    })
    expect(data?.roomCreate?.code ?? errors?.[0]?.message).toMatch(/INVALID_INPUT|Variable "\$input"/)
    expect(await world.sql('SELECT count(*) FROM rooms.rooms')).toEqual(before)
  })

  it.each([[''], ['   '], ['x'.repeat(201)]])('ROOM-30 refuses the title "%.10s"', async (title) => {
    expect(await create(world.owner, { title })).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'title'] }],
    })
  })

  it('ROOM-30 lets members and anonymous members make rooms, and nobody else', async () => {
    expect(await create(await world.anonymous())).toMatchObject({ __typename: 'RoomCreatePayload' })
    const { room } = await world.pokerRoom()
    for (const insider of [await world.viewer(), await world.embedded()]) {
      expect(await create(insider)).toMatchObject({ code: 'FORBIDDEN' })
    }
    const admin = await world.member({ space: null, role: 'admin' })
    for (const other of [admin, await world.outsider(), await world.otherOrg(), await world.guest(room)]) {
      expect(await create(other)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'spaceId'] })
    }
  })
})

describe('ROOM-31', () => {
  it('ROOM-31 makes no room of a retired or unknown kind; those there are go on', async () => {
    const org = await world.otherOrg()
    const input = { spaceId: org.space.id, kind: 'poker', title: 'Planning', config: PRESET }
    const { room } = await org.mutate('roomCreate', input, CREATED)
    await world.sql(
      `INSERT INTO rooms.room_kinds (org_id, kind, provider, display, actions)
       VALUES ($1, 'retro', 'some-plugin', 'Retro', '{"initial": "open", "phases": ["open", "done"]}')`,
      [org.orgId],
    )
    await world.sql(`UPDATE rooms.room_kinds SET retired_at = now() WHERE org_id = $1`, [org.orgId])
    for (const kind of ['poker', 'retro']) {
      expect(await org.mutate('roomCreate', { ...input, kind })).toMatchObject({ code: 'KIND_RETIRED' })
    }
    expect(await org.mutate('roomCreate', { ...input, kind: 'tea' })).toMatchObject({
      code: 'NOT_FOUND',
      path: ['input', 'kind'],
    })
    expect(await org.mutate('roomRename', { roomId: room.id, title: 'Still here' }, 'room { title }')).toMatchObject({
      room: { title: 'Still here' },
    })
    expect((await org.run(`{ space(id: "${org.space.id}") { kinds { kind } } }`)).space.kinds).toEqual([])
  })

  it('ROOM-31 does not offer the kind of a plugin that is not there', async () => {
    const org = await world.otherOrg()
    await world.sql(
      `INSERT INTO rooms.room_kinds (org_id, kind, provider, display, actions)
       VALUES ($1, 'retro', 'some-plugin', 'Retro', '{"initial": "open", "phases": ["open", "done"]}')`,
      [org.orgId],
    )
    const input = { spaceId: org.space.id, kind: 'retro', title: 'Retro', config: PRESET }
    expect(await org.mutate('roomCreate', input)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'kind'] })
  })
})
