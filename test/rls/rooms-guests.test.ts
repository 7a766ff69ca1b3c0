import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Guest, type Person, RoomsWorld, type Round, refusal } from './rooms-world.ts'

/** Of each table: whether a guest sees the rows of their room, or none at all. */
const REACH = {
  spaces: 'nothing',
  space_members: 'nothing',
  room_kinds: 'the org',
  rooms: 'the room',
  room_events: 'the room',
  room_presence: 'the room',
  room_participants: 'the room',
  room_links: 'nothing',
  room_guests: 'the room',
  decks: 'nothing',
  stories: 'the room',
  votes: 'the room',
  round_voters: 'the room',
  standup_entries: 'the room',
  standup_entry_comments: 'the room',
  standup_entry_reactions: 'the room',
  standup_commitments: 'nothing',
  standup_mentions: 'nothing',
  kudos: 'nothing',
  standup_schedules: 'nothing',
  standup_schedule_slots: 'nothing',
  standup_ahead_entries: 'nothing',
  standup_away: 'nothing',
  standup_trend_days: 'nothing',
  ics_feed_tokens: 'nothing',
} as const
const tables = Object.entries(REACH)

let world: RoomsWorld
let org: string
let space: string
let member: Person
let guest: Guest
let round: Round
let elsewhere: Round
let otherGuest: Guest

beforeAll(async () => {
  world = await RoomsWorld.open()
  org = await world.org()
  space = await world.space(org)
  member = await world.member(org, space)
  await world.owner(`INSERT INTO rooms.decks (org_id, space_id, name, cards) VALUES ($1, $2, 'Deck', '{1,2}')`, [
    org,
    space,
  ])
  round = await world.round(org, await world.room(org, space))
  elsewhere = await world.round(org, await world.room(org, space))
  guest = await world.guest(org, round.room)
  otherGuest = await world.guest(org, elsewhere.room)
  for (const { room, story, version } of [round, elsewhere]) {
    await world.participant(org, room, member.user)
    await world.present(org, room, member.user)
    await world.cast(member, { org, room, story, version }, '5')
    await world.owner(
      `INSERT INTO rooms.room_events (org_id, room_id, version, type, audience) VALUES ($1, $2, 2, 'X', 'all')`,
      [org, room],
    )
    await world.owner('INSERT INTO rooms.round_voters (org_id, room_id, story_id, user_id) VALUES ($1, $2, $3, $4)', [
      org,
      room,
      story,
      member.user,
    ])
    await world.entry(org, room, member.user)
    await world.owner('UPDATE rooms.stories SET revealed_at = now() WHERE id = $1', [story])
  }
  await followThrough()
})
afterAll(() => world.close())

/** What follows from standups, in the guest's room where it is in one: all of it is the members'. */
async function followThrough(): Promise<void> {
  const other = await world.member(org, space)
  const people = [member.user, other.user]
  for (const [text, ...values] of [
    [
      `INSERT INTO rooms.standup_commitments (org_id, space_id, user_id, text, opened_room_id) VALUES ($1, $2, $3, 'C', $4)`,
      space,
      member.user,
      round.room,
    ],
    [
      'INSERT INTO rooms.standup_mentions (org_id, room_id, from_user_id, to_user_id) VALUES ($1, $2, $3, $4)',
      round.room,
      ...people,
    ],
    [
      `INSERT INTO rooms.kudos (org_id, space_id, from_user_id, to_user_id, text, room_id) VALUES ($1, $2, $3, $4, 'K', $5)`,
      space,
      ...people,
      round.room,
    ],
    [
      `INSERT INTO rooms.standup_schedules (org_id, space_id, weekdays, open_time, timezone, window_minutes, enabled, starts_on)
      VALUES ($1, $2, '{1}', '09:00', 'UTC', 60, false, '2026-01-05')`,
      space,
    ],
    [
      `INSERT INTO rooms.standup_schedule_slots (org_id, schedule_id, slot_date, room_id, outcome, opens_at, closes_at)
      SELECT $1, id, '2026-01-05', $2, 'opened', now(), now() + interval '1 hour' FROM rooms.standup_schedules`,
      round.room,
    ],
    [
      `INSERT INTO rooms.standup_ahead_entries (org_id, schedule_id, day, user_id, today)
      SELECT $1, id, '2026-01-12', $2, 'A' FROM rooms.standup_schedules`,
      member.user,
    ],
    [
      `INSERT INTO rooms.standup_away (org_id, user_id, starts_on, ends_on) VALUES ($1, $2, '2026-01-05', '2026-01-06')`,
      member.user,
    ],
    [
      `INSERT INTO rooms.standup_trend_days (org_id, room_id, space_id, day, eligible, answered) VALUES ($1, $2, $3, '2026-01-05', 4, 2)`,
      round.room,
      space,
    ],
    [
      `INSERT INTO rooms.ics_feed_tokens (org_id, user_id, token_hash, lookup_prefix, remind_minutes)
      VALUES ($1, $2, sha256('t'), 'prefixed', 5)`,
      member.user,
    ],
  ] as const) {
    await world.owner(text, [org, ...values])
  }
}

describe('a guest', () => {
  it('ROOM-155 is asked about every table of rooms', async () => {
    const all = await world.owner<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'rooms'`,
    )
    expect(all.map(({ name }) => name).sort()).toEqual(Object.keys(REACH).sort())
  })

  it.each(tables)('ROOM-155 of %s reads %s', async (table, reach) => {
    const room = table === 'rooms' ? 'id' : 'room_id'
    // The hash of a token is not to be selected.
    const columns = table === 'room_links' ? 'id, room_id' : table === 'ics_feed_tokens' ? 'user_id' : '*'
    const all = await world.as({ org, user: member.user }, `SELECT ${columns} FROM rooms.${table}`)
    const seen = await world.as(guest, `SELECT ${columns} FROM rooms.${table}`)
    const expected = {
      nothing: 0,
      'the org': all.length,
      'the room': all.filter((row) => row[room] === round.room).length,
    }

    expect(all.length).toBeGreaterThan(0)
    if (reach === 'the room') expect(expected['the room']).toBeLessThan(all.length)
    expect(seen.length).toBe(expected[reach])
    if (reach === 'the room') expect(seen.every((row) => row[room] === round.room)).toBe(true)
  })

  it('ROOM-155 changes nothing of another room, and nothing of the space', async () => {
    await world.owner(
      `INSERT INTO rooms.room_kinds (org_id, kind, provider, display) VALUES ($1, 'retro', 'plugin', 'Retro')`,
      [org],
    )
    for (const [text, values] of [
      [`UPDATE rooms.rooms SET title = 'mine' WHERE id = $1`, [elsewhere.room]],
      [`UPDATE rooms.stories SET title = 'mine' WHERE room_id = $1`, [elsewhere.room]],
      ['DELETE FROM rooms.room_presence WHERE room_id = $1', [elsewhere.room]],
      ['DELETE FROM rooms.room_participants WHERE room_id = $1', [elsewhere.room]],
      [`UPDATE rooms.standup_entries SET today = 'mine' WHERE room_id = $1`, [elsewhere.room]],
      ['DELETE FROM rooms.standup_entry_comments WHERE room_id = $1', [elsewhere.room]],
      ['DELETE FROM rooms.standup_entry_reactions WHERE room_id = $1', [elsewhere.room]],
      ['DELETE FROM rooms.spaces WHERE id = $1', [space]],
      ['UPDATE rooms.space_members SET spectator = true WHERE space_id = $1', [space]],
      ['UPDATE rooms.room_links SET revoked_at = now() WHERE id = $1', [guest.link]],
      [`UPDATE rooms.room_kinds SET display = 'Mine' WHERE org_id = $1 AND provider = 'plugin'`, [org]],
    ] as const) {
      expect(await world.count(guest, text, [...values])).toBe(0)
    }
  })

  it('ROOM-155 writes into no other room and into no space (42501)', async () => {
    for (const [text, values] of [
      [`INSERT INTO rooms.stories (org_id, room_id, title, position) VALUES ($1, $2, 'S', 1)`, [org, elsewhere.room]],
      [
        'INSERT INTO rooms.room_presence (org_id, room_id, connection_id, user_id) VALUES ($1, $2, gen_random_uuid(), $3)',
        [org, elsewhere.room, guest.user],
      ],
      [
        'INSERT INTO rooms.room_participants (org_id, room_id, user_id) VALUES ($1, $2, $3)',
        [org, elsewhere.room, guest.user],
      ],
      [
        `INSERT INTO rooms.room_events (org_id, room_id, version, type, audience) VALUES ($1, $2, 9, 'X', 'all')`,
        [org, elsewhere.room],
      ],
      [
        `INSERT INTO rooms.rooms (org_id, space_id, kind, title, phase) VALUES ($1, $2, 'poker', 'R', 'active')`,
        [org, space],
      ],
      [
        'INSERT INTO rooms.standup_entries (org_id, room_id, user_id) VALUES ($1, $2, $3)',
        [org, elsewhere.room, guest.user],
      ],
      [
        `INSERT INTO rooms.standup_entry_comments (org_id, room_id, entry_user_id, author_id, text)
         VALUES ($1, $2, $3, $4, 'mine')`,
        [org, elsewhere.room, member.user, guest.user],
      ],
      [
        `INSERT INTO rooms.standup_entry_reactions (org_id, room_id, entry_user_id, user_id, emoji)
         VALUES ($1, $2, $3, $4, '🎉')`,
        [org, elsewhere.room, member.user, guest.user],
      ],
      [`INSERT INTO rooms.decks (org_id, space_id, name, cards) VALUES ($1, $2, 'D', '{1}')`, [org, space]],
      [`INSERT INTO rooms.room_kinds (org_id, kind, provider, display) VALUES ($1, $2, 'plugin', 'K')`, [org, 'mine']],
    ] as const) {
      expect(await refusal(world.as(guest, text, [...values]))).toBe('42501')
    }
  })

  it('ROOM-155 takes part in their room: attaches, votes, raises its version, stores an event', async () => {
    const next = await world.round(org, round.room)
    await world.as(
      guest,
      'INSERT INTO rooms.room_presence (org_id, room_id, connection_id, user_id) VALUES ($1, $2, gen_random_uuid(), $3)',
      [org, guest.room, guest.user],
    )
    expect(await world.cast(guest, next, '8')).toEqual([{ card: '8' }])
    const [row] = await world.as<{ version: string }>(
      guest,
      'UPDATE rooms.rooms SET version = version + 1 RETURNING version',
    )
    await world.as(
      guest,
      `INSERT INTO rooms.room_events (org_id, room_id, version, type, audience) VALUES ($1, $2, $3, 'VoteCast', 'all')`,
      [org, guest.room, row?.version],
    )
  })

  it('ID-9 sees themselves and the participants of their room, registered ones included, and nobody else', async () => {
    const seen = await world.as<{ id: string }>(guest, 'SELECT id FROM identity.users')
    expect(seen.map(({ id }) => id).sort()).toEqual([guest.user, member.user].sort())

    const outsider = await world.member(org, space)
    expect(await world.as(guest, 'SELECT id FROM identity.users WHERE id = $1', [outsider.user])).toEqual([])
    expect(await world.as(guest, 'SELECT id FROM identity.users WHERE id = $1', [otherGuest.user])).toEqual([])
  })

  it('ID-11 sees the others and changes only themselves', async () => {
    const rename = `UPDATE identity.users SET display_name = 'New'`
    expect(await world.count(guest, rename)).toBe(1)
    expect(await world.as(guest, 'SELECT id FROM identity.users WHERE display_name = $1', ['New'])).toEqual([
      { id: guest.user },
    ])
  })
})

describe('a room link', () => {
  it('ROOM-150 never shows the hash of its token (42501)', async () => {
    expect(await refusal(world.as({ org }, 'SELECT token_hash FROM rooms.room_links'))).toBe('42501')
    expect(await refusal(world.as({ org }, `SELECT id FROM rooms.room_links WHERE token_hash = '\\x00'`))).toBe('42501')
  })

  it('ROOM-150 is made by the app, with the hash and without reading it', async () => {
    const [row] = await world.as<{ id: string }>(
      { org },
      `INSERT INTO rooms.room_links (org_id, room_id, token_hash, expires_at)
       VALUES ($1, $2, $3, now() + interval '24 hours') RETURNING id`,
      [org, round.room, randomBytes(32)],
    )
    expect(row?.id).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('ROOM-150 lives a day at most, is redeemed 50 times at most, and has a hash of 32 bytes (23514)', async () => {
    const make = (hash: Buffer, life: string) =>
      refusal(
        world.as(
          { org },
          `INSERT INTO rooms.room_links (org_id, room_id, token_hash, expires_at) VALUES ($1, $2, $3, now() + $4::interval)`,
          [org, round.room, hash, life],
        ),
      )
    expect(await make(randomBytes(32), '24 hours 1 second')).toBe('23514')
    expect(await make(randomBytes(31), '1 hour')).toBe('23514')
    const link = await world.link(org, round.room)
    const redeem = (times: number) =>
      refusal(world.as({ org }, 'UPDATE rooms.room_links SET redemptions = $2 WHERE id = $1', [link, times]))
    expect([await redeem(50), await redeem(51)]).toEqual(['none', '23514'])
  })

  it('ROOM-154 stays revoked (MH008) and is deleted by nobody (42501)', async () => {
    const link = await world.link(org, round.room)
    const set = (value: string) =>
      world.as({ org }, `UPDATE rooms.room_links SET revoked_at = ${value} WHERE id = $1`, [link])
    await set('now()')
    expect(await refusal(set('NULL'))).toBe('MH008')
    expect(await refusal(world.as({ org }, 'DELETE FROM rooms.room_links WHERE id = $1', [link]))).toBe('42501')
  })

  it('ROOM-151 is found by its hash before any org is known, as it stands', async () => {
    const hash = randomBytes(32)
    const link = await world.link(org, round.room, hash)
    const [found, ...more] = await world.as({}, 'SELECT * FROM rooms.preauth_room_link($1)', [hash])

    expect(more).toEqual([])
    expect(found).toEqual({
      org_id: org,
      room_id: round.room,
      link_id: link,
      expires_at: expect.any(Date),
      revoked_at: null,
      redemptions: 0,
      opens: true,
    })
    expect(await world.as({}, 'SELECT * FROM rooms.preauth_room_link($1)', [randomBytes(32)])).toEqual([])
    expect(await world.as({}, 'SELECT id FROM rooms.room_links')).toEqual([])
  })

  it('ROOM-153 opens while it holds, its room goes on and its org takes writes', async () => {
    const { room } = await world.round(org, await world.room(org, space))
    const hash = randomBytes(32)
    const link = await world.link(org, room, hash)
    const opens = async () =>
      (await world.as<{ opens: boolean }>({}, 'SELECT opens FROM rooms.preauth_room_link($1)', [hash]))[0]?.opens
    expect(await opens()).toBe(true)
    for (const [shut, open] of [
      [
        `UPDATE rooms.rooms SET phase = 'done', ended_at = now() WHERE id = $1`,
        `UPDATE rooms.rooms SET phase = 'active', ended_at = NULL WHERE id = $1`,
      ],
      [
        `UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`,
        `UPDATE identity.orgs SET status = 'active', archived_at = NULL WHERE id = $1`,
      ],
      [
        `UPDATE rooms.room_links SET expires_at = created_at - interval '1 second' WHERE id = $1`,
        `UPDATE rooms.room_links SET expires_at = created_at + interval '1 hour' WHERE id = $1`,
      ],
    ] as const) {
      const id = shut.includes('rooms.rooms') ? room : shut.includes('orgs') ? org : link
      await world.owner(shut, [id])
      expect([shut, await opens()]).toEqual([shut, false])
      await world.owner(open, [id])
      expect([open, await opens()]).toEqual([open, true])
    }
    await world.owner('UPDATE rooms.room_links SET revoked_at = now() WHERE id = $1', [link])
    expect(await opens()).toBe(false)
  })

  it('ROOM-154, ROOM-175 wakes the streams of its room when it is revoked, once', async () => {
    const link = await world.link(org, round.room)
    const listener = await world.listener()
    const heard: string[] = []
    listener.on('notification', ({ payload }) => heard.push(payload ?? ''))
    await world.as({ org }, 'UPDATE rooms.room_links SET redemptions = 1 WHERE id = $1', [link])
    await world.as({ org }, 'UPDATE rooms.room_links SET revoked_at = now() WHERE id = $1', [link])
    await vi.waitFor(() => expect(heard.filter((hint) => hint.includes(round.room))).toHaveLength(1), 15_000)
    await listener.end()
  })

  it('ID-33 ends its sign-ins with it, whatever their own rows say', async () => {
    const own = await world.guest(org, round.room)
    const token = randomBytes(32)
    const [session] = await world.owner<{ id: string }>(
      `INSERT INTO identity.sessions (id, org_id, user_id, token_hash, method, room_id, link_id, expires_at)
       VALUES (platform.new_id(), $1, $2, $3, 'guest_link', $4, $5, now() + interval '1 hour') RETURNING id`,
      [org, own.user, token, round.room, own.link],
    )
    const holds = async () => {
      const [found] = await world.as<{ revoked_at: Date | null }>(
        {},
        'SELECT revoked_at FROM identity.preauth_session($1)',
        [token],
      )
      const standings = await world.as({}, 'SELECT FROM identity.preauth_standings($1, 1e9, 1e9)', [[session?.id]])
      return [found?.revoked_at === null, standings.length]
    }
    expect(await holds()).toEqual([true, 1])
    await world.as({ org }, 'UPDATE rooms.room_links SET revoked_at = now() WHERE id = $1', [own.link])
    expect(await holds()).toEqual([false, 0])
  })

  it('ROOM-152 has one guest a browser (23505)', async () => {
    const key = randomBytes(32)
    const enter = async () => {
      const { user } = await world.person(org, { account: 'guest' })
      return refusal(
        world.as(
          { org },
          `INSERT INTO rooms.room_guests (org_id, user_id, room_id, link_id, guest_key_hash, expires_at)
           VALUES ($1, $2, $3, $4, $5, now() + interval '1 hour')`,
          [org, user, guest.room, guest.link, key],
        ),
      )
    }
    expect([await enter(), await enter()]).toEqual(['none', '23505'])
  })

  it('ROOM-150 opens no room but its own: guests and sessions name both (23503)', async () => {
    const stranger = await world.person(org, { account: 'guest' })
    const enter = world.as(
      { org },
      `INSERT INTO rooms.room_guests (org_id, user_id, room_id, link_id, guest_key_hash, expires_at)
       VALUES ($1, $2, $3, $4, $5, now() + interval '1 hour')`,
      [org, stranger.user, elsewhere.room, guest.link, randomBytes(32)],
    )
    expect(await refusal(enter)).toBe('23503')
    expect(await refusal(signIn(stranger, elsewhere.room, guest.link))).toBe('23503')
    expect(await refusal(signIn(stranger, guest.room, guest.link))).toBe('none')
  })

  it('ROOM-34 goes with its room, and with it guests and their sessions; the accounts stay guests', async () => {
    const room = await world.room(org, space)
    const visitor = await world.guest(org, room)
    await signIn(visitor, room, visitor.link)
    await world.as({ org }, 'DELETE FROM rooms.rooms WHERE id = $1', [room])

    expect(await world.owner('SELECT FROM rooms.room_links WHERE room_id = $1', [room])).toEqual([])
    expect(await world.owner('SELECT FROM rooms.room_guests WHERE room_id = $1', [room])).toEqual([])
    expect(await world.owner('SELECT FROM identity.sessions WHERE user_id = $1', [visitor.user])).toEqual([])
    const account = await world.owner('SELECT account, home_org_id, link_id FROM identity.users WHERE id = $1', [
      visitor.user,
    ])
    expect(account).toEqual([{ account: 'guest', home_org_id: org, link_id: null }])
  })
})

function signIn(person: Person, room: string, link: string): Promise<unknown> {
  return world.as(
    { org },
    `INSERT INTO identity.sessions (org_id, user_id, token_hash, method, room_id, link_id, expires_at)
     VALUES ($1, $2, $3, 'guest_link', $4, $5, now() + interval '1 hour')`,
    [org, person.user, randomBytes(32), room, link],
  )
}
