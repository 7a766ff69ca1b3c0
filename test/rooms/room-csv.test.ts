import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'
import { open } from './poker-table.ts'
import { changes } from './traces.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const QUERY = 'query ($id: ID!) { roomCsv(roomId: $id) }'
const csvOf = async (person: Actor, room: Pick<TestRoom, 'id'>): Promise<string> =>
  (await person.run(QUERY, { id: room.id })).roomCsv
const tableOf = async (person: Actor, room: Pick<TestRoom, 'id'>): Promise<string[][]> =>
  parse(await csvOf(person, room))
const named = async <P extends Actor>(name: string, person: P): Promise<P> => {
  await world.sql('UPDATE identity.users SET display_name = $2 WHERE id = $1', [person.userId, name])
  return person
}
const HEADER = ['position', 'ref', 'title', 'notes', 'estimate', 'average', 'mode', 'consensus', 'votes']

/** A room whose host and voters are called Ann, Bob, Cid. */
async function namedRoom(setup: object = {}) {
  const made = await world.pokerRoom({ voters: 2, ...setup })
  for (const [at, person] of [made.host, ...made.voters].entries()) await named(['Ann', 'Bob', 'Cid'][at]!, person)
  return made
}

it('ROOM-62 has a line a story in their order; results once revealed', async () => {
  const { room, host, voters, stories } = await namedRoom({ stories: 3 })
  await host.mutate('storyUpdate', { id: stories[0], title: 'Sign in', notes: 'Two\nlines, "quoted"', ref: 'A-1' })
  await host.mutate('storyEstimate', { id: stories[0], estimate: '5' })
  await host.vote(room, '5')
  await voters[0]!.vote(room, '8')
  await voters[1]!.vote(room, '?')
  await host.reveal(room)
  await open(host, room, stories[1]!)
  await host.vote(room, '3')
  await host.mutate('storyMove', { id: stories[2], afterId: null })

  expect(await csvOf(host, room)).toBe(
    [
      HEADER.join(','),
      '1,,Story 3,,,,,,',
      '2,A-1,Sign in,"Two\nlines, ""quoted""",5,6.5,"5; 8",false,"Ann: 5; Bob: 8; Cid: ?"',
      '3,,Story 2,,,,,,',
      '',
    ].join('\n'),
  )
  await host.reveal(room)
  expect((await tableOf(voters[0]!, room))[3]).toEqual(['3', '', 'Story 2', '', '', '3', '3', 'true', 'Ann: 3'])
})

it('ROOM-62, ROOM-75 no hidden vote is in it, one’s own neither; nor one of a round that was reset', async () => {
  const { room, host, voters } = await namedRoom({ cards: ['1', '4242', '?'] })
  await host.vote(room, '4242')
  await voters[0]!.vote(room, '4242')
  for (const person of [host, voters[0]!, voters[1]!, await world.viewer()]) {
    expect(await csvOf(person, room)).not.toMatch(/4242|Ann|Bob/)
  }
  await host.reveal(room)
  expect(await csvOf(voters[1]!, room)).toMatch(/Ann: 4242; Bob: 4242/)
  await host.mutate('roomReset', { roomId: room.id })
  expect(await csvOf(voters[1]!, room)).not.toMatch(/4242/)
})

it('ROOM-62 has results of a revealed round without votes, and of ordinal decks no average', async () => {
  const { room, host } = await namedRoom()
  await host.reveal(room)
  expect((await tableOf(host, room))[1]!.slice(5)).toEqual(['', '', 'false', ''])
  const shirts = await namedRoom({ cards: ['S', 'M', '☕'], ordinal: true })
  for (const [at, card] of ['M', 'M', '☕'].entries()) {
    await [shirts.host, ...shirts.voters][at]!.vote(shirts.room, card)
  }
  await shirts.host.reveal(shirts.room)
  expect((await tableOf(shirts.host, shirts.room))[1]!.slice(5)).toEqual(['', 'M', 'true', 'Ann: M; Bob: M; Cid: ☕'])
})

it('ROOM-63 re-estimating one story changes no other line', async () => {
  const { room, host, voters, stories } = await namedRoom({ stories: 4 })
  for (const story of stories) {
    await open(host, room, story)
    for (const voter of [host, ...voters]) await voter.vote(room, '5')
    await host.reveal(room)
  }
  const before = (await csvOf(host, room)).split('\n')
  await host.mutate('storyEstimate', { id: stories[2], estimate: '13' })
  const after = (await csvOf(host, room)).split('\n')
  expect(after[3]).toBe('3,,Story 3,,13,5,5,true,"Ann: 5; Bob: 5; Cid: 5"')
  expect(after.toSpliced(3, 1)).toEqual(before.toSpliced(3, 1))
})

it('ROOM-65 leaves out quick votes that nobody named', async () => {
  const { room, host } = await world.pokerRoom({ stories: 1 })
  const quick = async () => (await host.mutate('roomQuickVote', { roomId: room.id }, 'story { id }'))['story'].id
  const [first, second] = [await quick(), await quick()]
  expect((await tableOf(host, room)).map((row) => row[2])).toEqual(['title', 'Story 1'])
  await host.mutate('storyUpdate', { id: second, ref: 'Q-2' })
  expect((await tableOf(host, room)).map((row) => row.slice(0, 3))).toEqual([
    ['position', 'ref', 'title'],
    ['1', '', 'Story 1'],
    ['2', 'Q-2', 'Quick vote 2'],
  ])
  await host.mutate('storyUpdate', { id: first, title: 'Named' })
  expect((await tableOf(host, room))[2]).toEqual(['2', '', 'Named', '', '', '', '', '', ''])
})

const FORMULAS = ['=1+1', '+1', '-1', '@SUM(A1)', '＝1', '＋1', '－1', '＠x']

it('ROOM-62 puts a quote before what would be a formula, full-width too and after trimming', async () => {
  const { room, host, voters } = await world.pokerRoom({ stories: 0, voters: 1, cards: ['-M', '=M'], ordinal: true })
  for (const text of FORMULAS) {
    await host.mutate('storyAdd', { roomId: room.id, title: ` \t${text}`, notes: `\r\n${text}`, ref: `\u00a0${text}` })
  }
  await named('=HYPERLINK("http://x")', host)
  await named('＝two', voters[0]!)
  const [story] = (await host.room(room, 'poker { stories { id } }')).poker.stories
  await open(host, room, story.id)
  await host.vote(room, '-M')
  await voters[0]!.vote(room, '=M')
  await host.reveal(room)
  await host.mutate('storyEstimate', { id: story.id, estimate: '=M' })

  const rows = (await tableOf(host, room)).slice(1)
  for (const [at, text] of FORMULAS.entries()) {
    expect(rows[at]!.slice(1, 4)).toEqual([`'${text}`, `'${text}`, `'${text}`])
  }
  expect(rows[0]!.slice(4)).toEqual([`'=M`, '', "'-M; =M", 'false', `'=HYPERLINK("http://x"): -M; ＝two: =M`])
  for (const cell of rows.flat()) expect(cell).not.toMatch(/^[=+\-@\t\r＝＋－＠]/)
})

it('ROOM-62 lets no text begin a line or a cell of its own', async () => {
  const { room, host } = await world.pokerRoom({ stories: 0 })
  const texts = ['a\r=1', 'a\n=1', 'a\r\n=1', 'a,=1', 'a;=1', 'a\t=1', '"=1', 'a","=1', "it's"]
  for (const title of texts) await host.mutate('storyAdd', { roomId: room.id, title })
  const csv = await csvOf(host, room)
  expect(parse(csv).map((row: string[]) => row[2])).toEqual(['title', ...texts])
  // Whatever is not inside quotes is the file's own.
  expect(csv.replace(/"(?:[^"]|"")*"/g, '')).not.toMatch(/[=\r;\t]/)
})

it('ROOM-61, ROOM-62 what was exported is imported again as it was', async () => {
  const { room, host } = await world.pokerRoom({ stories: 0 })
  const texts = [...FORMULAS, 'plain', "it's", '"quoted"', 'two\nlines', 'a,b;c\td', "''", '🎉 é']
  for (const [at, text] of texts.entries()) {
    await host.mutate('storyAdd', { roomId: room.id, title: text, notes: `${text}!`, ref: `${text}${at}` })
  }
  const { poker } = await host.room(room, 'poker { stories { id title notes ref estimate } }')
  await host.mutate('storyEstimate', { id: poker.stories[3].id, estimate: '½' })
  const { room: copy, host: other } = await world.pokerRoom({ stories: 0 })
  expect(
    await other.mutate('storyImport', { roomId: copy.id, csv: await csvOf(host, room) }, 'added skipped'),
  ).toMatchObject({ added: texts.length, skipped: 0 })
  const read = 'poker { stories { title notes ref estimate } }'
  expect(await other.room(copy, read)).toEqual(await host.room(room, read))
  // And again into where it came from: nothing.
  expect(
    await changes(world, room, async () => {
      expect(
        await host.mutate('storyImport', { roomId: room.id, csv: await csvOf(host, room) }, 'added skipped'),
      ).toMatchObject({ added: 0, skipped: texts.length })
    }),
  ).toBe(false)
})

it('ROOM-62, ROOM-76 keeps the votes of guests, also after revoke and expiry, and of members who have left', async () => {
  const space = await world.space()
  const { room, host, voters } = await namedRoom({ space })
  const revoked = await named('Guest one', await world.guest(room))
  const expired = await named('Guest two', await world.guest(room))
  for (const voter of [host, voters[0]!, voters[1]!, revoked, expired]) await voter.vote(room, '5')
  await host.reveal(room)
  await world.sql('UPDATE rooms.room_links SET revoked_at = now() WHERE id = $1', [revoked.linkId])
  await world.sql(
    `UPDATE rooms.room_links SET created_at = now() - interval '2 days', expires_at = now() - interval '1 day' WHERE id = $1`,
    [expired.linkId],
  )
  await world.sql(`UPDATE rooms.room_guests SET expires_at = now() - interval '1 day' WHERE user_id = $1`, [
    expired.userId,
  ])
  await voters[0]!.mutate('spaceLeave', { id: space.id })
  await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [voters[1]!.userId])
  expect((await tableOf(host, room))[1]!.at(-1)).toBe('Ann: 5; Bob: 5; Cid: 5; Guest one: 5; Guest two: 5')
})

it('ROOM-62 is there in any phase', async () => {
  const { room, host } = await namedRoom()
  const active = await csvOf(host, room)
  await host.mutate('roomEnd', { roomId: room.id })
  expect(await csvOf(host, room)).toBe(active)
})

it('ROOM-6, ROOM-22, ROOM-62, ROOM-155 registered members and agents of the space take it; nothing is changed by it', async () => {
  const { room, host, voters } = await namedRoom()
  await host.vote(room, '5')
  await host.reveal(room)
  const mayTake = [
    host,
    voters[0]!,
    world.owner,
    await world.viewer(),
    await world.member({ spectator: true }),
    await world.agent(),
    await world.agent({ mode: 'read', scopes: ['rooms:read'] }),
  ]
  const refused = [await world.guest(room), await world.anonymous(), await world.embedded(), await world.embedded(host)]
  const outside = [
    await world.member({ space: null, role: 'admin' }),
    await world.outsider(),
    await world.otherOrg(),
    await world.guest((await world.pokerRoom()).room),
    await world.anonymous({ space: null }),
  ]
  const changed = await changes(world, room, async () => {
    for (const person of mayTake) expect(await csvOf(person, room)).toContain('Ann: 5')
    for (const person of refused) {
      expect(await person.send(QUERY, { id: room.id })).toMatchObject({
        data: { roomCsv: null },
        errors: [{ extensions: { code: 'FORBIDDEN' } }],
      })
    }
    for (const person of outside) expect(await csvOf(person, room)).toBeNull()
    const lacking = await world.agent({ scopes: ['work:read', 'rooms:write'] })
    expect((await lacking.send(QUERY, { id: room.id })).errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
    const nobody = await world.app.client().send(QUERY, { id: room.id })
    expect(nobody.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }])
    const key = await world.adminKey()
    expect((await key.send(QUERY, { id: room.id })).data?.roomCsv ?? null).toBeNull()
  })
  expect(changed).toBe(false)
  expect(await csvOf(host, { id: encodeId('Room', newId()) })).toBeNull()
})

it('ROOM-62, ROOM-92 of a standup it has what people wrote, and never who was ready', async () => {
  const space = await world.space()
  const host = await named('Ann', await world.member({ space }))
  const other = await named('+Bob', await world.member({ space }))
  const uuid = newId()
  await world.sql(
    `INSERT INTO rooms.rooms (org_id, id, space_id, kind, title, phase, facilitator_id, config)
     VALUES ($1, $2, $3, 'standup', 'Daily', 'gather', $4, '{"async": false, "speakerSeconds": 0}')`,
    [space.orgId, uuid, space.uuid, host.userId],
  )
  const room = {
    id: encodeId('Room', uuid),
    uuid,
    spaceId: space.id,
    orgId: space.orgId,
    round: { storyId: '', roundVersion: '0' },
  }
  const guest = await named('Guest', await world.guest(room))
  for (const [person, text, order] of [
    [other, ['=1', 'two\nlines', ''], 2],
    [guest, ['g', '', ''], null],
    [host, ['', '', ''], 1],
  ] as const) {
    await world.sql(
      `INSERT INTO rooms.standup_entries (org_id, room_id, user_id, yesterday, today, blockers, speak_order, skipped, ready)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, true)`,
      [space.orgId, uuid, person.userId, ...text, order, person === host],
    )
  }
  await world.sql('UPDATE rooms.room_links SET revoked_at = now() WHERE id = $1', [guest.linkId])
  expect(await csvOf(host, room)).toBe(
    [
      'name,yesterday,today,blockers,skipped',
      'Ann,,,,true',
      `'+Bob,'=1,"two\nlines",,false`,
      'Guest,g,,,false',
      '',
    ].join('\n'),
  )
  expect((await guest.send(QUERY, { id: room.id })).errors).toBeDefined()
})
