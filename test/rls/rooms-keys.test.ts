import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RoomsWorld, refusal } from './rooms-world.ts'

let world: RoomsWorld
let org: string
let space: string
beforeAll(async () => {
  world = await RoomsWorld.open()
  org = await world.org()
  space = await world.space(org)
})
afterAll(() => world.close())

const HOLDERS = [
  'room_events',
  'room_presence',
  'room_participants',
  'room_links',
  'room_guests',
  'stories',
  'votes',
  'round_voters',
  'standup_entries',
  'standup_entry_comments',
  'standup_entry_reactions',
]

/** A room with a row in every table that hangs on one, and who made them. */
async function fullRoom(): Promise<{ room: string; user: string; counts: () => Promise<Record<string, number>> }> {
  const member = await world.member(org, space)
  const room = await world.room(org, space)
  const round = await world.round(org, room)
  const { user } = member
  await world.cast(member, round, '5')
  await world.participant(org, room, user)
  await world.present(org, room, user)
  await world.guest(org, room)
  await world.entry(org, room, user)
  await world.owner(
    `INSERT INTO rooms.room_events (org_id, room_id, version, type, audience) VALUES ($1, $2, 2, 'X', 'all')`,
    [org, room],
  )
  await world.owner('INSERT INTO rooms.round_voters (org_id, room_id, story_id, user_id) VALUES ($1, $2, $3, $4)', [
    org,
    room,
    round.story,
    user,
  ])
  const counts = async () => {
    const tables = HOLDERS.map((table) => `(SELECT count(*)::int FROM rooms.${table} WHERE room_id = $1) AS ${table}`)
    const [row] = await world.owner<Record<string, number>>(`SELECT ${tables.join(', ')}`, [room])
    return row ?? {}
  }
  return { room, user, counts }
}

const each = (value: number) => Object.fromEntries(HOLDERS.map((table) => [table, value]))

describe('what hangs on a room', () => {
  it('ROOM-34 goes with it', async () => {
    const { room, counts } = await fullRoom()
    expect(await counts()).toEqual({ ...each(1), room_participants: 2 })
    await world.as({ org }, 'DELETE FROM rooms.rooms WHERE id = $1', [room])
    expect(await counts()).toEqual(each(0))
  })

  it('ROOM-20 goes with its space', async () => {
    const { counts } = await fullRoom()
    const before = space
    space = await world.space(org)
    await world.as({ org }, 'DELETE FROM rooms.spaces WHERE id = $1', [before])
    expect(await counts()).toEqual(each(0))
  })

  it('ID-68 goes with a person as far as it is theirs; what they made stays', async () => {
    const { room, user, counts } = await fullRoom()
    const link = await world.link(org, room)
    await world.owner('UPDATE rooms.room_links SET created_by = $2 WHERE id = $1', [link, user])
    await world.owner('UPDATE rooms.stories SET created_by = $2 WHERE room_id = $1', [room, user])
    await world.owner('UPDATE rooms.room_events SET actor_id = $2 WHERE room_id = $1', [room, user])
    await world.owner('DELETE FROM identity.users WHERE id = $1', [user])

    const gone = ['room_presence', 'votes', 'round_voters', ...HOLDERS.filter((table) => table.startsWith('standup_'))]
    expect(await counts()).toEqual({ ...each(1), room_links: 2, ...Object.fromEntries(gone.map((name) => [name, 0])) })
    const [made] = await world.owner('SELECT created_by FROM rooms.room_links WHERE id = $1', [link])
    expect(made).toEqual({ created_by: null })
    const [story] = await world.owner('SELECT created_by FROM rooms.stories WHERE room_id = $1', [room])
    expect(story).toEqual({ created_by: null })
    const [event] = await world.owner('SELECT actor_id FROM rooms.room_events WHERE room_id = $1', [room])
    expect(event).toEqual({ actor_id: user })
  })
})

describe('a row', () => {
  it('ROOM-6 names no story of another room (23503)', async () => {
    const here = await world.room(org, space)
    const there = await world.story(org, await world.room(org, space))
    const { user } = await world.member(org, space)
    const wait = world.as(
      { org },
      'INSERT INTO rooms.round_voters (org_id, room_id, story_id, user_id) VALUES ($1, $2, $3, $4)',
      [org, here, there, user],
    )
    expect(await refusal(wait)).toBe('23503')

    const round = await world.round(org, here)
    const stray = { ...round, room: await world.room(org, space) }
    expect(await refusal(world.cast({ org, user }, stray, '5'))).toBe('MH020')
  })

  it('PLAT-3 names nothing of another org (23503)', async () => {
    const foreign = await world.org()
    const foreignSpace = await world.space(foreign)
    const foreignRoom = await world.room(foreign, foreignSpace)
    const { user } = await world.person(org)

    for (const [text, ...values] of [
      ['INSERT INTO rooms.space_members (org_id, space_id, user_id) VALUES ($1, $2, $3)', foreignSpace, user],
      [
        `INSERT INTO rooms.rooms (org_id, space_id, kind, title, phase) VALUES ($1, $2, 'poker', 'R', 'active')`,
        foreignSpace,
      ],
      [`INSERT INTO rooms.decks (org_id, space_id, name, cards) VALUES ($1, $2, 'D', '{1}')`, foreignSpace],
      [`INSERT INTO rooms.stories (org_id, room_id, title, position) VALUES ($1, $2, 'S', 1)`, foreignRoom],
      [
        'INSERT INTO rooms.room_presence (org_id, room_id, connection_id, user_id) VALUES ($1, $2, gen_random_uuid(), $3)',
        foreignRoom,
        user,
      ],
      ['INSERT INTO rooms.room_participants (org_id, room_id, user_id) VALUES ($1, $2, $3)', foreignRoom, user],
      [
        `INSERT INTO rooms.room_events (org_id, room_id, version, type, audience) VALUES ($1, $2, 2, 'X', 'all')`,
        foreignRoom,
      ],
      [
        `INSERT INTO rooms.room_links (org_id, room_id, token_hash, expires_at) VALUES ($1, $2, $3, now())`,
        foreignRoom,
        randomBytes(32),
      ],
    ] as [string, ...unknown[]][]) {
      expect(await refusal(world.as({ org }, text, [org, ...values]))).toBe('23503')
    }
  })

  it("PLAT-3 of another org's is out of reach, under the same ids", async () => {
    const { room } = await fullRoom()
    const foreign = { org: await world.org() }
    expect(await world.count(foreign, `UPDATE rooms.rooms SET title = 'mine' WHERE id = $1`, [room])).toBe(0)
    expect(await world.count(foreign, 'DELETE FROM rooms.rooms WHERE id = $1', [room])).toBe(0)
  })
})

describe('a story', () => {
  const add = (columns: string, values: string) =>
    world
      .room(org, space)
      .then((room) =>
        refusal(
          world.as({ org }, `INSERT INTO rooms.stories (org_id, room_id, ${columns}) VALUES ($1, $2, ${values})`, [
            org,
            room,
          ]),
        ),
      )

  it('ROOM-58 has a title or a reference that is not blank (23514)', async () => {
    expect(await add('position, title', `1, 'Story'`)).toBe('none')
    expect(await add('position, ref', `1, 'ABC-1'`)).toBe('none')
    expect(await add('position', '1')).toBe('23514')
    expect(await add('position, title, ref', `1, '  ', ' '`)).toBe('23514')
  })

  it('ROOM-59 has a finite position (23514)', async () => {
    for (const position of ['NaN', 'Infinity', '-Infinity']) {
      expect(await add('title, position', `'S', '${position}'`)).toBe('23514')
    }
    expect(await add('title, position', `'S', -1.5`)).toBe('none')
  })

  it('ROOM-63 has an estimate of 1 to 16 characters or none (23514)', async () => {
    expect(await add('title, position, estimate', `'S', 1, '13'`)).toBe('none')
    expect(await add('title, position, estimate', `'S', 1, ''`)).toBe('23514')
    expect(await add('title, position, estimate', `'S', 1, repeat('1', 17)`)).toBe('23514')
  })
})

it.each([
  ['spaces', `name = 'New'`],
  ['rooms', `title = 'New'`],
  ['decks', `name = 'New'`],
  ['stories', `notes = 'New'`],
  ['votes', `card = '8'`],
  ['standup_entries', `ready = true`],
])('%s say when they were last written', async (table, set) => {
  const voter = await world.member(org, space)
  const room = await world.room(org, space)
  await world.cast(voter, await world.round(org, room), '5')
  await world.entry(org, room, voter.user)
  await world.owner(
    `INSERT INTO rooms.decks (org_id, space_id, name, cards) VALUES ($1, $2, 'Deck', '{1}') ON CONFLICT DO NOTHING`,
    [org, space],
  )
  const born = table === 'votes' ? 'cast_at' : 'created_at'
  const [later] = await world.as(voter, `UPDATE rooms.${table} SET ${set} RETURNING updated_at > ${born} AS later`)
  expect(later).toEqual({ later: true })
})
