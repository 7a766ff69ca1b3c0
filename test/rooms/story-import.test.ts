import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor, Outcome, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { lastEvents, next } from './poker-table.ts'
import { changes } from './traces.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const load = (person: Actor, room: TestRoom, csv: string): Promise<Outcome> =>
  person.mutate(
    'storyImport',
    { roomId: room.id, csv },
    'room { version } added skipped',
    '... on LimitReachedError { limit }',
  )

type Shown = { title: string; notes: string; ref: string; estimate: string | null; position: number; id: string }
const storiesOf = async (room: TestRoom, viewer: Actor): Promise<Shown[]> =>
  (await viewer.room(room, 'poker { stories { id title notes ref estimate position quick } }')).poker.stories
const textsOf = async (room: TestRoom, viewer: Actor) =>
  (await storiesOf(room, viewer)).map(({ title, notes, ref, estimate }) => [title, notes, ref, estimate])

/** What an import of these rows leaves in a fresh room. */
async function imported(csv: string, setup: { cards?: readonly string[]; ordinal?: boolean } = {}) {
  const { room, host } = await world.pokerRoom({ stories: 0, ...setup })
  const outcome = await load(host, room, csv)
  expect(outcome.issues, csv).toBeUndefined()
  return textsOf(room, host)
}

/** Where an import is refused, of a room in which it changes nothing. */
async function refusedAt(csv: string, setup: { cards?: readonly string[]; ordinal?: boolean } = {}) {
  const { room, host } = await world.pokerRoom({ stories: 0, ...setup })
  let paths: string[] = []
  const changed = await changes(world, room, async () => {
    const outcome = await load(host, room, csv)
    expect(outcome, csv).toMatchObject({ code: 'INVALID_INPUT' })
    paths = outcome['issues'].map(({ path }: { path: string[] }) => path.join('.'))
  })
  expect(changed).toBe(false)
  return paths
}

it('ROOM-61 a host adds the stories of a file behind the last one, in one version', async () => {
  const { room, host } = await world.pokerRoom()
  const { version } = await host.room(room)
  const csv = 'ref,title,estimate,notes\nA-1,Sign in,5,With a key\nA-2,,½,\n,Sign out,,'
  expect(await load(host, room, csv)).toMatchObject({ room: { version: next(version) }, added: 3, skipped: 0 })
  const stories = await storiesOf(room, host)
  expect(stories).toMatchObject([
    { title: 'Story 1', position: 1024 },
    { title: 'Sign in', notes: 'With a key', ref: 'A-1', estimate: '5', position: 2048, quick: false },
    { title: '', notes: '', ref: 'A-2', estimate: '½', position: 3072 },
    { title: 'Sign out', ref: '', estimate: null, position: 4096 },
  ])
  const storyIds = stories.slice(1).map(({ id }) => uuidOf(id))
  expect(await world.events(room)).toEqual([
    { version: next(version), type: 'StoriesImported', payload: { storyIds, skipped: 0 } },
  ])
  const facts = await world.sql(
    'SELECT event_type, category, deliverable, target_kind, target_id, payload FROM platform.audit_events WHERE room_id = $1',
    [room.uuid],
  )
  expect(facts).toEqual([
    {
      event_type: 'story.imported',
      category: 'activity',
      deliverable: true,
      target_kind: 'Room',
      target_id: room.uuid,
      payload: { added: 3, skipped: 0 },
    },
  ])
  const [row] = await world.sql('SELECT created_by FROM rooms.stories WHERE id = $1', [storyIds[0]])
  expect(row).toEqual({ created_by: host.userId })
})

describe('a file', () => {
  it.each([
    ['commas', 'title,ref\na,1\nb,2'],
    ['semicolons, with commas in cells', 'title;ref;notes\na, really;1;x,y\nb;2;', ['a, really', 'x,y']],
    ['tabs', 'title\tref\na\t1\nb\t2'],
    ['a BOM', '\ufefftitle,ref\na,1\nb,2'],
    ['a BOM before a quote', '\ufeff"title","ref"\na,1\nb,2'],
    ['CRLF', 'title,ref\r\na,1\r\nb,2\r\n'],
    ['CR alone', 'title,ref\ra,1\rb,2'],
    ['mixed line ends', 'title,ref\r\na,1\nb,2\r'],
    ['columns in another order and spelling', ' REF , Title \n1,a\n2,b'],
    ['other columns', 'id,title,,ref,owner\n7,a,x,1,me\n8,b,y,2,you'],
    ['blank rows', '\n,,\ntitle,ref\n\na,1\n , \nb,2\n\n'],
    ['blanks around cells', 'title,ref\n  a ,\t1\nb,2'],
    ['blank cells beyond the header', 'title,ref\na,1,,\nb,2, '],
  ])('ROOM-61 may have %s', async (_name, csv, [title = 'a', notes = ''] = []) => {
    expect(await imported(csv)).toEqual([
      [title, notes, '1', null],
      ['b', '', '2', null],
    ])
  })

  it('ROOM-61 may have quoted cells with separators, line breaks and quotes; short rows are blank at the end', async () => {
    const csv = 'title;notes;ref\n"a; b";"one\r\ntwo ""three""\n"\n"=""x"""\n"";"";"r"'
    expect(await imported(csv)).toEqual([
      ['a; b', 'one\r\ntwo "three"', '', null],
      ['="x"', '', '', null],
      ['', '', 'r', null],
    ])
  })

  it('ROOM-7, ROOM-61 is measured and stored in NFC', async () => {
    expect(await imported(`title\n${'e\u0301'.repeat(200)}\n${'🎉'.repeat(200)}`)).toEqual([
      ['é'.repeat(200), '', '', null],
      ['🎉'.repeat(200), '', '', null],
    ])
  })

  it('ROOM-61 may be a list of refs or of titles alone', async () => {
    expect(await imported('ref\nA-1\nA-2')).toEqual([
      ['', '', 'A-1', null],
      ['', '', 'A-2', null],
    ])
    expect(await imported('title\nOne')).toEqual([['One', '', '', null]])
  })

  it('ROOM-61 loses a quote before what would be a formula, and no other', async () => {
    const cells = ["'=1+1", "'+1", "'-1", "'@x", "'＝1", "'quoted'", "''=1", "' =1", '=1', "'"]
    const csv = `title\n${cells.map((cell) => `"${cell}"`).join('\n')}`
    expect((await imported(csv)).map(([title]) => title)).toEqual([
      '=1+1',
      '+1',
      '-1',
      '@x',
      '＝1',
      "'quoted'",
      "''=1",
      "' =1",
      '=1',
      "'",
    ])
  })

  it.each([
    ['no header', '', ['input.csv']],
    ['nothing but blanks', '\n , \n', ['input.csv']],
    ['a header of other things', 'a,b\nc,d', ['input.csv.1']],
    ['neither title nor ref', 'notes,estimate\na,5', ['input.csv.1']],
    ['a column twice', 'title,ref,Title\na,1,b', ['input.csv.1.title']],
    ['a quote that does not close', 'title,ref\na,1\n"b,2\nc,3', ['input.csv.3.1']],
    ['a quote inside a cell', 'ref,title\n1,a "b" c', ['input.csv.2.2']],
    ['text behind a quote', 'title,ref\n"a"b,1', ['input.csv.2.1']],
    ['more cells than the header', 'title,ref\na,1\nb, and so on,2', ['input.csv.3.3']],
    ['U+0000', 'title\na\0b', ['input.csv']],
    ['half a surrogate pair', 'title\na\ud800', ['input.csv']],
  ])('ROOM-61 is refused with %s', async (_name, csv, paths) => {
    expect(await refusedAt(csv)).toEqual(paths)
  })

  it('ROOM-61 has 256 KiB at most, counted in bytes', async () => {
    const { room, host } = await world.pokerRoom({ stories: 0 })
    const header = 'ref,ignored\nA-1,'
    const fits = `${header}${'x'.repeat(256 * 1024 - header.length)}`
    expect(await load(host, room, fits)).toMatchObject({ added: 1 })
    expect(await refusedAt(`${fits}x`)).toEqual(['input.csv'])
    expect(await refusedAt(`ref,ignored\nA-1,${'é'.repeat(128 * 1024)}`)).toEqual(['input.csv'])
  })
})

describe('a row', () => {
  it('ROOM-61 is refused at its cell, in the order of the file', async () => {
    const csv = [
      'title,notes,ref,estimate',
      'good,,A-1,5',
      `${'t'.repeat(201)},${'n'.repeat(2001)},${'r'.repeat(41)},x`,
      ',only notes,,',
      '"line\nbreak",,A-2,?',
      '',
      'special,,,☕',
      `long,,,${'0'.repeat(17)}`,
    ].join('\n')
    expect(await refusedAt(csv)).toEqual([
      'input.csv.3.title',
      'input.csv.3.notes',
      'input.csv.3.ref',
      'input.csv.3.estimate',
      'input.csv.4.title',
      'input.csv.5.estimate',
      'input.csv.7.estimate',
      'input.csv.8.estimate',
    ])
  })

  it('ROOM-61 names the first twenty faults', async () => {
    const rows = Array.from({ length: 30 }, (_, at) => `s${at},nothing`)
    const paths = await refusedAt(`title,estimate\n${rows.join('\n')}`)
    expect(paths).toEqual(Array.from({ length: 20 }, (_, at) => `input.csv.${at + 2}.estimate`))
  })

  it('ROOM-61 says nothing of what was written', async () => {
    const { room, host } = await world.pokerRoom({ stories: 0 })
    const { data, errors } = await host.attempt('storyImport', {
      roomId: room.id,
      csv: 'title,estimate\nzqmark,zqother',
    })
    expect(JSON.stringify([data, errors])).not.toMatch(/zq/)
  })

  it('ROOM-61, ROOM-63 has an estimate of the deck, in numeric decks any number', async () => {
    const numeric = { cards: ['1', '2', '3', '?', '☕'], ordinal: false }
    expect((await imported('title,estimate\na,3\nb,100\nc,1/2\nd,1½\ne,', numeric)).map((row) => row[3])).toEqual([
      '3',
      '100',
      '1/2',
      '1½',
      null,
    ])
    const shirts = { cards: ['S', 'M', '?', '∞'], ordinal: true }
    expect((await imported('title,estimate\na,M\nb,', shirts)).map((row) => row[3])).toEqual(['M', null])
    for (const estimate of ['L', '5', '?', '∞', 's', '☕\ufe0f']) {
      expect(await refusedAt(`title,estimate\na,${estimate}`, shirts)).toEqual(['input.csv.2.estimate'])
    }
    for (const estimate of ['-1', '.5', '?', '☕', '☕\ufe0f', '∞', 'M', '"1,5"']) {
      expect(await refusedAt(`title,estimate\na,${estimate}`, numeric)).toEqual(['input.csv.2.estimate'])
    }
  })
})

it('ROOM-61 skips and counts a ref that the room or the file has already; importing twice adds nothing', async () => {
  const { room, host } = await world.pokerRoom({ stories: 0 })
  await host.mutate('storyAdd', { roomId: room.id, title: 'Here', ref: 'A-1' })
  const csv = 'title,ref\nOther,A-1\nNew,A-2\nTwice,A-2\nLower,a-2\nSpaced, A-1 '
  expect(await load(host, room, csv)).toMatchObject({ added: 2, skipped: 3 })
  expect((await storiesOf(room, host)).map(({ title, ref }) => [title, ref])).toEqual([
    ['Here', 'A-1'],
    ['New', 'A-2'],
    ['Lower', 'a-2'],
  ])
  expect((await lastEvents(world, room, 1))[0]!.payload).toMatchObject({ skipped: 3 })
  // ROOM-4
  expect(
    await changes(world, room, async () => {
      expect(await load(host, room, csv)).toMatchObject({ added: 0, skipped: 5 })
      expect(await load(host, room, 'title,ref')).toMatchObject({ added: 0, skipped: 0 })
    }),
  ).toBe(false)
  // A row that would be skipped is checked all the same.
  expect(
    await changes(world, room, async () => {
      expect(await load(host, room, `title,ref\n${'x'.repeat(201)},A-1`)).toMatchObject({ code: 'INVALID_INPUT' })
    }),
  ).toBe(false)
})

it('ROOM-61 two imports of the same refs at once add each once', async () => {
  for (let run = 0; run < 4; run++) {
    const { room, host } = await world.pokerRoom({ stories: 0 })
    const rows = Array.from({ length: 30 }, (_, at) => `Story ${at},R-${at}`)
    const both = await Promise.all([
      load(host, room, `title,ref\n${rows.slice(0, 20).join('\n')}`),
      load(host, room, `title,ref\n${rows.slice(10).join('\n')}`),
    ])
    expect(both.map(({ added, skipped }) => added + skipped)).toEqual([20, 20])
    expect(both.reduce((sum, { added }) => sum + added, 0)).toBe(30)
    const stories = await storiesOf(room, host)
    expect(new Set(stories.map(({ ref }) => ref)).size).toBe(30)
    expect(new Set(stories.map(({ position }) => position)).size).toBe(30)
    expect(stories).toHaveLength(30)
  }
})

it('ROOM-58, ROOM-61 a room holds 500: an import beyond adds none, skipped rows take no place', async () => {
  const { room, host } = await world.pokerRoom({ stories: 0 })
  const rows = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, at) => `Story ${from + at},R-${from + at}`).join('\n')
  expect(await load(host, room, `title,ref\n${rows(1, 498)}`)).toMatchObject({ added: 498 })
  expect(
    await changes(world, room, async () => {
      expect(await load(host, room, `title,ref\n${rows(499, 501)}`)).toMatchObject({
        code: 'LIMIT_REACHED',
        limit: 500,
      })
    }),
  ).toBe(false)
  expect(await load(host, room, `title,ref\n${rows(1, 500)}`)).toMatchObject({ added: 2, skipped: 498 })
  // At once for the last place.
  await host.mutate('storyDelete', { id: (await storiesOf(room, host))[0]!.id })
  const both = await Promise.all([load(host, room, 'title\nx'), load(host, room, 'title\ny')])
  expect(both.map(({ code }) => code ?? 'ok').sort()).toEqual(['LIMIT_REACHED', 'ok'])
  expect(await storiesOf(room, host)).toHaveLength(500)
})

it('ROOM-170, ROOM-172 guests, members and late replays see the stories that were imported', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1, stories: 0 })
  const guest = await world.guest(room)
  const query = `subscription ($roomId: ID!, $sinceVersion: BigInt) { roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) {
    __typename version ... on StoriesImported { skipped stories { id title notes ref estimate position quick } } } }`
  const follow = ({ client }: Actor, sinceVersion?: string) =>
    openRoomStream({
      url: `${world.app.url}/graphql`,
      token: client.token!,
      variables: { roomId: room.id, ...(sinceVersion && { sinceVersion }) },
      query,
    })
  const live = [voters[0]!, guest].map((person) => follow(person))
  for (const stream of live) await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
  const { version } = await host.room(room)
  // More text than a stored event holds.
  const rows = Array.from({ length: 120 }, (_, at) => `Story ${at},R-${at},${'n'.repeat(1_500)}`)
  await load(host, room, `title,ref,notes\n${rows.join('\n')}`)
  const stories = await storiesOf(room, host)
  expect(stories).toHaveLength(120)
  const late = [voters[0]!, guest].map((person) => follow(person, version))
  for (const stream of [...live, ...late]) {
    const told = await stream.next(({ __typename }) => __typename === 'StoriesImported', 'the import')
    expect(told).toMatchObject({ version: next(version), skipped: 0, stories })
  }
  await host.mutate('storyDelete', { id: stories[0]!.id })
  const later = follow(guest, version)
  const told = await later.next(({ __typename }) => __typename === 'StoriesImported')
  // Whether it still tells of the one that is gone is a matter of when it was rendered; that it is gone follows.
  expect(told.stories.filter(({ id }: Shown) => id !== stories[0]!.id)).toEqual(stories.slice(1))
  await later.next(({ __typename }) => __typename === 'StoryRemoved')
  for (const stream of [...live, ...late, later]) stream.close()
})

it('ROOM-5, ROOM-6, ROOM-22, ROOM-40 is for hosts of a room that goes on', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  const refused: [Actor, string][] = [
    [voters[0]!, 'FORBIDDEN'],
    [world.owner, 'FORBIDDEN'],
    [await world.viewer(), 'FORBIDDEN'],
    [await world.anonymous(), 'FORBIDDEN'],
    [await world.agent(), 'FORBIDDEN'],
    [await world.guest(room), 'FORBIDDEN'],
    [await world.embedded(host), 'FORBIDDEN'],
    [await world.outsider(), 'NOT_FOUND'],
    [await world.otherOrg(), 'NOT_FOUND'],
    [await world.member({ space: null, role: 'admin' }), 'NOT_FOUND'],
    [await world.guest((await world.pokerRoom()).room), 'NOT_FOUND'],
  ]
  expect(
    await changes(world, room, async () => {
      for (const [person, code] of refused) expect(await load(person, room, 'title\nx')).toMatchObject({ code })
    }),
  ).toBe(false)
  await host.mutate('roomEnd', { roomId: room.id })
  expect(
    await changes(world, room, async () => {
      expect(await load(host, room, 'title\nx')).toMatchObject({ code: 'ROOM_ENDED' })
    }),
  ).toBe(false)
})
