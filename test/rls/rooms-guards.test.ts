import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { RoomsWorld, refusal } from './rooms-world.ts'

let world: RoomsWorld
let org: string
let space: string
let room: string
beforeAll(async () => {
  world = await RoomsWorld.open()
  org = await world.org()
  space = await world.space(org)
})
beforeEach(async () => {
  room = await world.room(org, space)
})
afterAll(() => world.close())

type State = { version: number; round: number; revealed: boolean; story: string | null }

async function state(): Promise<State> {
  const [row] = await world.owner<State>(
    `SELECT version::int, poker_round_version::int AS round, revealed, current_story_id AS story
     FROM rooms.rooms WHERE id = $1`,
    [room],
  )
  if (!row) throw new Error('the room is gone')
  return row
}

/** Updates the room as the app does, by the text of its SET list. */
const update = (set: string, values: unknown[] = []) =>
  world.as({ org }, `UPDATE rooms.rooms SET ${set} WHERE id = $1`, [room, ...values])

describe('the version of a room', () => {
  it('ROOM-3 rises by one with a change that names it, and with one that forgot it', async () => {
    await update(`title = 'A', version = version + 1`)
    expect((await state()).version).toBe(2)
    await update(`title = 'B'`)
    expect((await state()).version).toBe(3)
  })

  it.each([
    ['title', `title = 'new'`],
    ['config', `config = '{"autoReveal": true}'`],
    ['closes_at', 'closes_at = now()'],
    ['timer', `timer_started_at = now(), timer_ends_at = now() + interval '1 minute', timer_on_end = 'reveal'`],
    ['round', 'poker_round_version = poker_round_version + 1'],
    ['revealed', 'revealed = true'],
    ['end', `phase = 'done', ended_at = now(), first_ended_at = now()`],
  ])('ROOM-3 rises when %s changes', async (_column, set) => {
    await update(set)
    expect((await state()).version).toBe(2)
  })

  it('ROOM-3 rises when the facilitator changes, and when a foreign key empties a column', async () => {
    const { user } = await world.member(org, space)
    await update('facilitator_id = $2', [user])
    expect((await state()).version).toBe(2)

    const maker = await world.member(org, space)
    await world.owner('UPDATE rooms.rooms SET created_by = $2 WHERE id = $1', [room, maker.user])
    await world.owner('DELETE FROM identity.users WHERE id = $1', [maker.user])
    expect((await state()).version).toBe(4)
  })

  it('ROOM-41 stays with a sign of life of the facilitator, and with no change at all', async () => {
    await update('facilitator_seen_at = now()')
    await update('title = title')
    expect((await state()).version).toBe(1)
  })

  it('ROOM-3 may rise alone, for what changed in another table', async () => {
    await update('version = version + 1')
    expect((await state()).version).toBe(2)
  })

  it('ROOM-3 skips none, falls never and is never null (MH021)', async () => {
    await update('version = version + 1')
    expect(await refusal(update('version = version + 2'))).toBe('MH021')
    expect(await refusal(update('version = version - 1'))).toBe('MH021')
    expect(await refusal(update('version = NULL'))).toBe('MH021')
    expect((await state()).version).toBe(2)
  })

  it('ROOM-3 is held against the owner of the tables too', async () => {
    const skip = world.owner('UPDATE rooms.rooms SET version = version + 2 WHERE id = $1', [room])
    expect(await refusal(skip)).toBe('MH021')
  })
})

describe('a round', () => {
  it('ROOM-64 begins when a story comes to the table or leaves it, whether its version is named or forgotten', async () => {
    const story = await world.story(org, room)
    await update('current_story_id = $2, poker_round_version = poker_round_version + 1, version = version + 1', [story])
    expect(await state()).toEqual({ version: 2, round: 1, revealed: false, story })

    await update('current_story_id = NULL')
    expect(await state()).toEqual({ version: 3, round: 2, revealed: false, story: null })
  })

  it('ROOM-64 begins revealed with a story revealed before, and hidden with another, whatever was written', async () => {
    const [old, fresh] = [await world.story(org, room), await world.story(org, room)]
    await world.reveal(await world.round(org, room, old))
    await update('current_story_id = $2, revealed = true', [fresh])
    expect((await state()).revealed).toBe(false)
    await update('current_story_id = $2, revealed = false', [old])
    expect((await state()).revealed).toBe(true)
  })

  it('ROOM-64 keeps its version with the same story selected again', async () => {
    const { story } = await world.round(org, room)
    await update('current_story_id = $2', [story])
    expect(await state()).toMatchObject({ version: 2, round: 1 })
  })

  it('ROOM-64 neither falls nor skips when a story comes to the table (MH021)', async () => {
    await world.round(org, room)
    const next = await world.story(org, room)

    expect(await refusal(update('poker_round_version = poker_round_version - 1'))).toBe('MH021')
    for (const by of ['+ 2', '- 1']) {
      const select = update(`current_story_id = $2, poker_round_version = poker_round_version ${by}`, [next])
      expect(await refusal(select)).toBe('MH021')
    }
  })

  it('ROOM-60 begins, empty and hidden, when the story on the table is deleted', async () => {
    const round = await world.round(org, room)
    const voter = await world.member(org, space)
    await world.cast(voter, round, '5')
    await world.reveal(round)
    const before = await state()

    await world.as({ org }, 'DELETE FROM rooms.stories WHERE id = $1', [round.story])

    const after = { version: before.version + 1, round: before.round + 1, revealed: false, story: null }
    expect(await state()).toEqual(after)
    expect(await world.owner('SELECT FROM rooms.votes WHERE story_id = $1', [round.story])).toHaveLength(0)
  })

  it('ROOM-60 goes on when another story is deleted', async () => {
    await world.round(org, room)
    const before = await state()
    await world.as({ org }, 'DELETE FROM rooms.stories WHERE id = $1', [await world.story(org, room)])
    expect(await state()).toEqual(before)
  })

  it('ROOM-6 takes no story of another room to its table (23503)', async () => {
    const elsewhere = await world.story(org, await world.room(org, space))
    expect(await refusal(update('current_story_id = $2', [elsewhere]))).toBe('23503')
  })
})

describe('the phase of a room', () => {
  it('ROOM-32 of poker goes to done and back, as often as wanted', async () => {
    await update(`phase = 'done', ended_at = now(), first_ended_at = now()`)
    await update(`phase = 'active', ended_at = NULL`)
    await update(`phase = 'done', ended_at = now()`)
    expect((await state()).version).toBe(4)
  })

  it('ROOM-32 of poker goes nowhere else, and begins as active (MH010)', async () => {
    expect(await refusal(update(`phase = 'speak'`))).toBe('MH010')
    const born = world.as(
      { org },
      `INSERT INTO rooms.rooms (org_id, space_id, kind, title, phase, ended_at) VALUES ($1, $2, 'poker', 'R', 'done', now())`,
      [org, space],
    )
    expect(await refusal(born)).toBe('MH010')
  })

  it('ROOM-32 of a standup walks gather, speak, gather, done, gather, and from speak to done', async () => {
    await standup()
    for (const phase of ['speak', 'gather', 'done', 'gather', 'speak', 'done']) {
      await update(`phase = '${phase}', ended_at = ${phase === 'done' ? 'now()' : 'NULL'}`)
    }
    expect(await refusal(update(`phase = 'speak', ended_at = NULL`))).toBe('MH010')
    expect(await refusal(update(`phase = 'active', ended_at = NULL`))).toBe('MH010')
  })

  it("ROOM-162 of a plugin's kind is one that the kind declares, beginning with its initial one", async () => {
    await kind('retro', { phases: ['gather', 'vote', 'done'], initial: 'gather', actions: {} })
    expect(await refusal(born('retro', 'vote'))).toBe('MH010')
    room = await born('retro', 'gather')
    await update(`phase = 'vote'`)
    expect(await refusal(update(`phase = 'discuss'`))).toBe('MH010')
    await update(`phase = 'done', ended_at = now()`)
    await update(`phase = 'gather', ended_at = NULL`)
  })

  it('ROOM-163 of a retired kind can still be done, whatever its declaration has become', async () => {
    await kind('poll', { phases: ['open', 'done'], initial: 'open', actions: {} })
    room = await born('poll', 'open')
    await world.as({ org }, `UPDATE rooms.room_kinds SET retired_at = now(), actions = '{}' WHERE kind = 'poll'`)
    await update(`phase = 'done', ended_at = now()`)
    expect((await state()).version).toBe(2)
  })

  it('ROOM-33 is done exactly when the room has ended (23514)', async () => {
    expect(await refusal(update(`phase = 'done'`))).toBe('23514')
    expect(await refusal(update('ended_at = now()'))).toBe('23514')
  })

  it('ROOM-182 remembers the first end for ever (MH008)', async () => {
    await update(`phase = 'done', ended_at = now(), first_ended_at = now()`)
    expect(await refusal(update('first_ended_at = now()'))).toBe('MH008')
    expect(await refusal(update('first_ended_at = NULL'))).toBe('MH008')
  })
})

describe('the columns of a room', () => {
  it.each([
    ['a standup has no round', 'poker_round_version = 1'],
    ['a standup is not revealed', 'revealed = true'],
    ['nobody speaks before the speaking', 'current_speaker_id = (SELECT id FROM identity.users LIMIT 1)'],
    ['a core kind has no state', `state = '{"shared": 1}'`],
    ['a timer starts and ends', `timer_ends_at = now()`],
    ['a timer does not end before it starts', `timer_started_at = now(), timer_ends_at = now()`],
    ['a config is an object', `config = '[]'`],
    ['a title has a bound', `title = repeat('x', 201)`],
    ['a config has a bound', `config = jsonb_build_object('x', repeat('y', 32768))`],
  ])('keep that %s (23514)', async (_rule, set) => {
    await standup()
    expect(await refusal(update(set))).toBe('23514')
  })

  it('keep what a room is: its space, kind and maker are fixed (42501)', async () => {
    for (const column of ['space_id', 'org_id', 'id', 'created_by', 'created_at', 'updated_at']) {
      expect(await refusal(update(`${column} = ${column}`))).toBe('42501')
    }
    expect(await refusal(update(`kind = 'poker'`))).toBe('42501')
  })

  it('ID-8 name no facilitator without standing in the org (MH009), and keep one who has left', async () => {
    const stranger = await world.person(await world.org())
    expect(await refusal(update('facilitator_id = $2', [stranger.user]))).toBe('MH009')

    const { user } = await world.member(org, space)
    await update('facilitator_id = $2', [user])
    await world.owner('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [user])
    await update(`title = 'later'`)
    expect(await refusal(world.owner('DELETE FROM identity.users WHERE id = $1', [user]))).toBe('23503')
  })
})

describe('the kinds of rooms', () => {
  it('ROOM-31 are there from the birth of an org: poker and standup, of the core', async () => {
    const born = await world.org()
    const rows = await world.as({ org: born }, 'SELECT kind, provider, retired_at FROM rooms.room_kinds ORDER BY kind')
    expect(rows).toEqual(['poker', 'standup'].map((kind) => ({ kind, provider: 'core', retired_at: null })))
  })

  it('ROOM-163 are not deleted: by the app never (42501), by the owner not while rooms have them', async () => {
    const remove = `DELETE FROM rooms.room_kinds WHERE org_id = $1 AND kind = 'poker'`
    expect(await refusal(world.as({ org }, remove, [org]))).toBe('42501')
    expect(await refusal(world.owner(remove, [org]))).toMatch(/^(23001|23503)$/) // RESTRICT has its own code from 18 on
    expect(await refusal(world.owner(remove, [await world.org()]))).toBe('none')
  })

  it('ROOM-160 of the core are neither made nor changed by the app (MH008)', async () => {
    const retire = world.as({ org }, `UPDATE rooms.room_kinds SET retired_at = now() WHERE kind = 'poker'`)
    expect(await refusal(retire)).toBe('MH008')
    const forge = world.as(
      { org },
      `INSERT INTO rooms.room_kinds (org_id, kind, provider, display) VALUES ($1, 'x', 'core', 'X')`,
      [org],
    )
    expect(await refusal(forge)).toBe('MH008')
  })

  it('ROOM-163 have an install only while a plugin offers them (23514)', async () => {
    await kind('chess', {})
    const set = (columns: string) =>
      refusal(world.as({ org }, `UPDATE rooms.room_kinds SET ${columns} WHERE kind = 'chess'`))
    expect(await set('install_id = gen_random_uuid()')).toBe('none')
    expect(await set('retired_at = now()')).toBe('23514')
    expect(await set('retired_at = now(), install_id = NULL')).toBe('none')
  })
})

async function kind(name: string, actions: object): Promise<void> {
  await world.as(
    { org },
    `INSERT INTO rooms.room_kinds (org_id, kind, provider, display, actions) VALUES ($1, $2, 'plugin', 'Kind', $3)`,
    [org, name, JSON.stringify(actions)],
  )
}

async function born(name: string, phase: string): Promise<string> {
  const [row] = await world.as<{ id: string }>(
    { org },
    `INSERT INTO rooms.rooms (org_id, space_id, kind, title, phase) VALUES ($1, $2, $3, 'Room', $4) RETURNING id`,
    [org, space, name, phase],
  )
  return row?.id ?? ''
}

/** The room of the test becomes a standup. */
async function standup(): Promise<void> {
  room = await born('standup', 'gather')
}
