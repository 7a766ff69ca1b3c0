import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Guest, type Person, RoomsWorld, refusal } from '../rls/rooms-world.ts'

let world: RoomsWorld
let org: string
let room: string
let member: Person
let guest: Guest
beforeAll(async () => {
  world = await RoomsWorld.open()
  org = await world.org()
  const space = await world.space(org)
  member = await world.member(org, space)
  room = await world.room(org, space)
  guest = await world.guest(org, room)
  await world.entry(org, room, member.user)
})
afterAll(() => world.close())

const insert = (by: Person | Guest, table: string, columns: string, values: string, ...rest: unknown[]) =>
  refusal(
    world.as(by, `INSERT INTO rooms.${table} (org_id, room_id, ${columns}) VALUES ($1, $2, ${values})`, [
      org,
      room,
      ...rest,
    ]),
  )

describe('entries of standups', () => {
  it('ROOM-91 have at most 2,000 characters of each text, and are one a person (23514, 23505)', async () => {
    for (const text of ['yesterday', 'today', 'blockers']) {
      const set = (length: number) =>
        refusal(
          world.as(member, `UPDATE rooms.standup_entries SET ${text} = repeat('é', ${length}) WHERE room_id = $1`, [
            room,
          ]),
        )
      expect(await set(2_000)).toBe('none')
      expect(await set(2_001)).toBe('23514')
    }
    expect(await insert(member, 'standup_entries', 'user_id', '$3', member.user)).toBe('23505')
  })

  it('ROOM-91 are a guest’s to write in their room, and belong to the room and the person for good (42501)', async () => {
    expect(await insert(guest, 'standup_entries', 'user_id', '$3', guest.user)).toBe('none')
    for (const column of ['org_id', 'room_id', 'user_id', 'created_at', 'updated_at']) {
      const change = world.as(member, `UPDATE rooms.standup_entries SET ${column} = ${column} WHERE room_id = $1`, [
        room,
      ])
      expect(await refusal(change)).toBe('42501')
    }
  })
})

describe('comments and reactions', () => {
  it('ROOM-98 are on an entry of the same room (23503), and none is ever changed (42501)', async () => {
    const stranger = await world.member(org, await world.space(org))
    const [words, sign] = ['standup_entry_comments', 'standup_entry_reactions'] as const
    expect(
      await insert(member, words, 'entry_user_id, author_id, text', `$3, $4, 'x'`, stranger.user, member.user),
    ).toBe('23503')
    expect(
      await insert(member, sign, 'entry_user_id, user_id, emoji', `$3, $4, '👍'`, stranger.user, member.user),
    ).toBe('23503')
    expect(await refusal(world.as(member, `UPDATE rooms.${words} SET text = 'y'`))).toBe('42501')
    expect(await refusal(world.as(member, `UPDATE rooms.${sign} SET emoji = '🎉'`))).toBe('42501')
  })

  it('ROOM-98 have 1 to 500 characters, or one of six emoji, each once a person (23514, 23505)', async () => {
    const say = (text: string) =>
      insert(member, 'standup_entry_comments', 'entry_user_id, author_id, text', '$3, $3, $4', member.user, text)
    expect(await say('é'.repeat(500))).toBe('none')
    for (const text of ['', 'x'.repeat(501)]) expect(await say(text)).toBe('23514')
    const put = (emoji: string) =>
      insert(member, 'standup_entry_reactions', 'entry_user_id, user_id, emoji', '$3, $3, $4', member.user, emoji)
    for (const emoji of ['❤️', '🎉', '👀', '🙏', '💡']) expect(await put(emoji)).toBe('none')
    for (const emoji of ['❤', '👎', '']) expect(await put(emoji)).toBe('23514')
    expect(await put('👍')).toBe('23505')
  })

  it('PLAT-3 of another org are out of reach, and cannot be put on its entries (23503)', async () => {
    const foreign = { org: await world.org() }
    for (const table of ['standup_entries', 'standup_entry_comments', 'standup_entry_reactions']) {
      expect(await world.count(foreign, `DELETE FROM rooms.${table} WHERE room_id = $1`, [room])).toBe(0)
      expect(await world.as(foreign, `SELECT FROM rooms.${table}`)).toEqual([])
    }
    const entry = world.as(
      foreign,
      'INSERT INTO rooms.standup_entries (org_id, room_id, user_id) VALUES ($1, $2, $3)',
      [foreign.org, room, member.user],
    )
    expect(await refusal(entry)).toBe('23503')
  })
})
