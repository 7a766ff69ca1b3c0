import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Person, RoomsWorld, type Round, refusal } from './rooms-world.ts'

let world: RoomsWorld
let org: string
let space: string
beforeAll(async () => {
  world = await RoomsWorld.open()
  org = await world.org()
  space = await world.space(org)
})
afterAll(() => world.close())

/** An open round of two voters, in which the first has voted 5. */
async function hiddenVote(): Promise<{ round: Round; voter: Person; other: Person }> {
  const voter = await world.member(org, space)
  const other = await world.member(org, space)
  const round = await world.round(org, await world.room(org, space))
  await world.cast(voter, round, '5')
  return { round, voter, other }
}

describe('a hidden card', () => {
  it('ROOM-75 is read by its caster: SELECT, RETURNING of the insert, of the update and of the delete', async () => {
    const { round, voter } = await hiddenVote()
    const mine = [round.story]

    expect(await world.as(voter, 'SELECT card FROM rooms.votes WHERE story_id = $1', mine)).toEqual([{ card: '5' }])
    expect(await world.cast(voter, round, '8')).toEqual([{ card: '8' }])
    const update = `UPDATE rooms.votes SET card = '13' WHERE story_id = $1 RETURNING card`
    expect(await world.as(voter, update, mine)).toEqual([{ card: '13' }])
    const removal = `DELETE FROM rooms.votes WHERE story_id = $1 AND card = '13' RETURNING card`
    expect(await world.as(voter, removal, mine)).toEqual([{ card: '13' }])
  })

  it.each([
    ['a plain SELECT', 'SELECT card FROM rooms.votes WHERE story_id = $1'],
    ['an aggregate', `SELECT max(card) AS card FROM rooms.votes WHERE story_id = $1 HAVING count(*) > 0`],
    ['a join', 'SELECT v.card FROM rooms.stories s JOIN rooms.votes v ON v.story_id = s.id WHERE s.id = $1'],
    ['a comparison', `SELECT FROM rooms.votes WHERE story_id = $1 AND card = '5'`],
    [
      'a sub-select',
      'SELECT FROM rooms.stories s WHERE id = $1 AND EXISTS (SELECT FROM rooms.votes WHERE story_id = s.id)',
    ],
    ['a row lock', 'SELECT card FROM rooms.votes WHERE story_id = $1 FOR UPDATE'],
    ['an UPDATE by its value', `UPDATE rooms.votes SET card = card WHERE story_id = $1 AND card = '5' RETURNING card`],
    [
      'an UPDATE of everything',
      `UPDATE rooms.votes SET round_version = round_version WHERE story_id = $1 RETURNING card`,
    ],
    ['a DELETE by its value', `DELETE FROM rooms.votes WHERE story_id = $1 AND card = '5' RETURNING card`],
    [
      'a DELETE through a join',
      'DELETE FROM rooms.votes v USING rooms.stories s WHERE s.id = $1 AND v.story_id = s.id RETURNING card',
    ],
    [
      'a MERGE',
      `MERGE INTO rooms.votes v USING rooms.stories s ON v.story_id = s.id AND s.id = $1
                 WHEN MATCHED AND v.card = '5' THEN DELETE`,
    ],
  ])('ROOM-75 is nothing to another viewer by %s', async (_form, text) => {
    const { round, voter, other } = await hiddenVote()
    const guest = await world.guest(org, round.room)

    for (const viewer of [other, guest, { org }]) {
      expect(await world.count(viewer, text, [round.story])).toBe(0)
    }
    expect(await world.as(voter, 'SELECT card FROM rooms.votes WHERE story_id = $1', [round.story])).toHaveLength(1)
  })

  it('ROOM-75 does not show in how many rows a DELETE without a condition removes', async () => {
    const { round, other } = await hiddenVote()

    expect(await world.count(other, 'DELETE FROM rooms.votes')).toBe(0)
    expect(await world.as(other, 'SELECT user_id FROM rooms.round_voted($1)', [round.story])).toHaveLength(1)
  })

  it("ROOM-75 is not told by a conflict on another's row, whatever is guessed", async () => {
    const { round, voter, other } = await hiddenVote()
    const guess = (card: string) =>
      refusal(
        world.as(
          other,
          `INSERT INTO rooms.votes (org_id, room_id, story_id, user_id, card, round_version) VALUES ($1, $2, $3, $4, '1', $5)
           ON CONFLICT (org_id, story_id, user_id) DO UPDATE SET card = excluded.card WHERE votes.card = $6`,
          [org, round.room, round.story, voter.user, round.version, card],
        ),
      )

    expect([await guess('5'), await guess('8')]).toEqual(['42501', '42501'])
  })

  it('ROOM-69 cannot be cast in the name of another', async () => {
    const { round, other } = await hiddenVote()
    const forged = world.as(
      other,
      `INSERT INTO rooms.votes (org_id, room_id, story_id, user_id, card, round_version) VALUES ($1, $2, $3, $4, '1', $5)`,
      [org, round.room, round.story, (await world.member(org, space)).user, round.version],
    )
    expect(await refusal(forged)).toBe('42501')
  })

  it('ROOM-75 is read by everybody in the org once the story is revealed', async () => {
    const { round, other } = await hiddenVote()
    const guest = await world.guest(org, round.room)
    await world.reveal(round)

    for (const viewer of [other, guest, { org }]) {
      expect(await world.as(viewer, 'SELECT card FROM rooms.votes WHERE story_id = $1', [round.story])).toEqual([
        { card: '5' },
      ])
    }
  })

  it('ROOM-75 is read by its caster alone also when the table has moved on', async () => {
    const { round, voter, other } = await hiddenVote()
    await world.round(org, round.room)

    const text = 'SELECT card FROM rooms.votes WHERE story_id = $1'
    expect(await world.as(voter, text, [round.story])).toHaveLength(1)
    expect(await world.as(other, text, [round.story])).toHaveLength(0)
  })

  it('ROOM-155 of another room is nothing to a guest, also after its reveal', async () => {
    const { round } = await hiddenVote()
    await world.reveal(round)
    const guest = await world.guest(org, await world.room(org, space))

    expect(await world.as(guest, 'SELECT FROM rooms.votes')).toHaveLength(0)
    expect(await world.as(guest, 'SELECT FROM rooms.round_voted($1)', [round.story])).toHaveLength(0)
    expect(await refusal(world.cast(guest, round, '3'))).toBe('MH020')
  })
})

describe('votes', () => {
  it("ROOM-155 of another room are out of reach under the settings of one, even one's own", async () => {
    const { round, voter } = await hiddenVote()
    const confined = { ...voter, room: await world.room(org, space) }

    expect(await world.count(confined, 'SELECT FROM rooms.votes WHERE story_id = $1', [round.story])).toBe(0)
    expect(await world.count(confined, 'DELETE FROM rooms.votes')).toBe(0)
    expect(await world.count(voter, 'SELECT FROM rooms.votes WHERE story_id = $1', [round.story])).toBe(1)
  })
})

describe('a round', () => {
  it('ROOM-69 takes a vote for the story on the table, of this round, hidden, in a room that goes on', async () => {
    const { round, voter } = await hiddenVote()
    expect(await world.cast(voter, round, '8')).toEqual([{ card: '8' }])
  })

  it('ROOM-69 takes no vote once it is revealed (MH020)', async () => {
    const { round, voter, other } = await hiddenVote()
    await world.reveal(round)

    expect(await refusal(world.cast(other, round, '8'))).toBe('MH020')
    expect(await refusal(world.cast(voter, round, '8'))).toBe('MH020')
    expect(await world.count(voter, `UPDATE rooms.votes SET card = '8' WHERE story_id = $1`, [round.story])).toBe(0)
    expect(await world.count(voter, 'DELETE FROM rooms.votes WHERE story_id = $1', [round.story])).toBe(0)
  })

  it('ROOM-69 takes no vote where only the room or only the story says that it is revealed (MH020)', async () => {
    for (const reveal of [
      'UPDATE rooms.rooms SET revealed = true WHERE current_story_id = $1',
      'UPDATE rooms.stories SET revealed_at = now() WHERE id = $1',
    ]) {
      const { round, other } = await hiddenVote()
      await world.owner(reveal, [round.story])
      expect(await refusal(world.cast(other, round, '8'))).toBe('MH020')
    }
  })

  it('ROOM-69 takes no vote of an earlier or later round, for another story, or in a done room (MH020)', async () => {
    const { round, other } = await hiddenVote()
    expect(await refusal(world.cast(other, { ...round, version: round.version - 1 }, '8'))).toBe('MH020')
    expect(await refusal(world.cast(other, { ...round, version: round.version + 1 }, '8'))).toBe('MH020')

    const aside = await world.story(org, round.room)
    expect(await refusal(world.cast(other, { ...round, story: aside }, '8'))).toBe('MH020')

    await world.owner(`UPDATE rooms.rooms SET phase = 'done', ended_at = now() WHERE id = $1`, [round.room])
    expect(await refusal(world.cast(other, round, '8'))).toBe('MH020')
  })

  it('ROOM-69 changes no vote of an earlier round by a plain UPDATE (MH020)', async () => {
    const { round, voter } = await hiddenVote()
    await world.round(org, round.room)

    const update = world.as(voter, `UPDATE rooms.votes SET card = '8' WHERE story_id = $1`, [round.story])
    expect(await refusal(update)).toBe('MH020')
  })

  it('ROOM-71 makes a vote wait for a reveal under way, and then refuses it', async () => {
    const { round, other } = await hiddenVote()
    const host = await world.begin({ org })
    await host.query('UPDATE rooms.rooms SET revealed = true WHERE id = $1', [round.room])

    const late = refusal(world.cast(other, round, '8'))
    await world.untilBlocked()
    await host.query('UPDATE rooms.stories SET revealed_at = now() WHERE id = $1', [round.story])
    await host.commit()

    expect(await late).toBe('MH020')
  })

  it('ROOM-71 makes a vote wait for a reveal that has written the story only', async () => {
    const { round, other } = await hiddenVote()
    const host = await world.begin({ org })
    await host.query('UPDATE rooms.stories SET revealed_at = now() WHERE id = $1', [round.story])

    const late = refusal(world.cast(other, round, '8'))
    await world.untilBlocked()
    await host.commit()

    expect(await late).toBe('MH020')
  })

  it('ROOM-71 makes a reveal wait for a vote under way, and then counts it', async () => {
    const { round, other } = await hiddenVote()
    const voter = await world.begin(other)
    await voter.query(
      `INSERT INTO rooms.votes (org_id, room_id, story_id, user_id, card, round_version) VALUES ($1, $2, $3, $4, '8', $5)`,
      [org, round.room, round.story, other.user, round.version],
    )

    const host = await world.begin({ org })
    const reveal = host
      .query('UPDATE rooms.rooms SET revealed = true WHERE id = $1', [round.room])
      .then(() => host.query('UPDATE rooms.stories SET revealed_at = now() WHERE id = $1', [round.story]))
      .then(() => host.query('SELECT card FROM rooms.votes WHERE story_id = $1 ORDER BY card', [round.story]))
    await world.untilBlocked()
    await voter.commit()

    expect((await reveal).rows).toEqual([{ card: '5' }, { card: '8' }])
    await host.commit()
  })

  it('ROOM-1 takes a vote from a transaction that has locked the room itself', async () => {
    const { round, other } = await hiddenVote()
    const voter = await world.begin(other)
    await voter.query('SELECT FROM rooms.rooms WHERE id = $1 FOR NO KEY UPDATE', [round.room])
    await voter.query(
      `INSERT INTO rooms.votes (org_id, room_id, story_id, user_id, card, round_version) VALUES ($1, $2, $3, $4, '8', $5)`,
      [org, round.room, round.story, other.user, round.version],
    )
    await voter.query('UPDATE rooms.rooms SET version = version + 1 WHERE id = $1', [round.room])
    await voter.commit()

    expect(await world.as(other, 'SELECT card FROM rooms.votes WHERE story_id = $1', [round.story])).toHaveLength(1)
  })

  it('ROOM-65 stays revealed while it has votes (MH010), and is hidden again without', async () => {
    const { round } = await hiddenVote()
    await world.reveal(round)
    const unreveal = () => world.as({ org }, 'UPDATE rooms.stories SET revealed_at = NULL WHERE id = $1', [round.story])

    expect(await refusal(unreveal())).toBe('MH010')
    expect(await world.as({ org }, 'SELECT rooms.round_clear($1) AS cleared', [round.story])).toEqual([{ cleared: 1 }])
    expect(await refusal(unreveal())).toBe('none')
  })
})

describe('the helpers of a round', () => {
  it('ROOM-75 tell who voted and when, without the card', async () => {
    const { round, voter, other } = await hiddenVote()
    const [row, ...more] = await world.as(other, 'SELECT * FROM rooms.round_voted($1)', [round.story])

    expect(more).toEqual([])
    expect(Object.keys(row ?? {})).toEqual(['user_id', 'cast_at'])
    expect(row?.user_id).toBe(voter.user)
    const guest = await world.guest(org, round.room)
    expect(await world.as(guest, 'SELECT FROM rooms.round_voted($1)', [round.story])).toHaveLength(1)
  })

  it('ROOM-65 clear all votes of the story on the table, and of no other', async () => {
    const { round, voter, other } = await hiddenVote()
    await world.cast(other, round, '8')
    const next = await world.round(org, round.room)
    await world.cast(voter, next, '3')
    const clear = (story: string) => world.as({ org }, 'SELECT rooms.round_clear($1) AS cleared', [story])

    expect(await clear(round.story)).toEqual([{ cleared: 0 }])
    expect(await clear(next.story)).toEqual([{ cleared: 1 }])
    expect(await world.owner('SELECT FROM rooms.votes WHERE story_id = $1', [round.story])).toHaveLength(2)
  })

  it("ROOM-21 withdraw one person's hidden vote, and no revealed one", async () => {
    const { round, voter, other } = await hiddenVote()
    await world.cast(other, round, '8')
    const withdraw = (user: string) =>
      world.as({ org }, 'SELECT rooms.round_clear($1, $2) AS cleared', [round.story, user])

    expect(await withdraw(voter.user)).toEqual([{ cleared: 1 }])
    await world.reveal(round)
    expect(await withdraw(other.user)).toEqual([{ cleared: 0 }])
  })

  it("ROOM-155 clear nobody else's vote for a guest", async () => {
    const { round, voter } = await hiddenVote()
    const guest = await world.guest(org, round.room)
    await world.cast(guest, round, '8')

    const all = await world.as(guest, 'SELECT rooms.round_clear($1) AS cleared', [round.story])
    const theirs = await world.as(guest, 'SELECT rooms.round_clear($1, $2) AS cleared', [round.story, voter.user])
    expect([all, theirs]).toEqual([[{ cleared: 1 }], [{ cleared: 0 }]])
    expect(await world.as(voter, 'SELECT card FROM rooms.votes WHERE story_id = $1', [round.story])).toHaveLength(1)
  })

  it('PLAT-3 know nothing of another org', async () => {
    const { round, voter } = await hiddenVote()
    const stranger = { org: await world.org(), user: voter.user }

    expect(await world.as(stranger, 'SELECT FROM rooms.round_voted($1)', [round.story])).toHaveLength(0)
    expect(await world.as(stranger, 'SELECT rooms.round_clear($1) AS cleared', [round.story])).toEqual([{ cleared: 0 }])
    expect(await world.as({}, 'SELECT rooms.round_clear($1) AS cleared', [round.story])).toEqual([{ cleared: 0 }])
  })
})
