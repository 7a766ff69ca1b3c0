import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'
import { idsOf, put, ready, seen, skip, standup, start } from './standup-circle.ts'
import { changes } from './traces.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const create = (person: Actor, config: object) =>
  person.mutate(
    'roomCreate',
    { spaceId: world.home.id, kind: 'standup', title: 'Standup', config },
    'room { id phase config { __typename ... on StandupConfig { async speakerSeconds } } poker { revealed } standup { async } }',
  )
const rowsOf = (room: TestRoom) =>
  world.sql('SELECT user_id, yesterday, today, blockers FROM rooms.standup_entries WHERE room_id = $1', [room.uuid])
const end = (host: Actor, room: TestRoom) => host.mutate('roomEnd', { roomId: room.id })

describe('ROOM-90', () => {
  it('ROOM-90, ROOM-32 makes a standup that gathers, with two minutes a turn unless it says otherwise', async () => {
    expect(await create(world.owner, { standup: {} })).toMatchObject({
      room: {
        phase: 'gather',
        config: { __typename: 'StandupConfig', async: false, speakerSeconds: 120 },
        poker: null,
        standup: { async: false },
      },
    })
    for (const speakerSeconds of [0, 900]) {
      const { room } = await create(world.owner, { standup: { async: true, speakerSeconds } })
      expect(room).toMatchObject({ config: { async: true, speakerSeconds }, standup: { async: true } })
    }
  })

  it.each([
    ['another kind’s config', { poker: { deck: { preset: 'FIBONACCI' } } }],
    ['less than no time', { standup: { speakerSeconds: -1 } }],
    ['more than 15 minutes', { standup: { speakerSeconds: 901 } }],
  ])('ROOM-90 refuses %s', async (_what, config) => {
    expect(await create(world.owner, config)).toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('ROOM-91', () => {
  it('ROOM-91 everybody in the room reads what somebody wrote; what is left out stays', async () => {
    const { room, host, people } = await standup(world, { people: 1 })
    const [writer] = people as [Actor]
    const guest = await world.guest(room)
    expect(await put(writer, room, { yesterday: ' Slept ', blockers: 'Cafe\u0301' })).toMatchObject({
      entry: { yesterday: 'Slept', today: '', blockers: 'Café', answered: true },
    })
    await put(writer, room, { today: 'Sleep more' })
    await put(writer, room, { blockers: '' })
    const entry = { userId: writer.id, yesterday: 'Slept', today: 'Sleep more', blockers: '', answered: true }
    for (const viewer of [host, writer, guest, await world.viewer(), await world.member({ spectator: true })]) {
      expect((await seen(viewer, room)).standup.entries).toMatchObject([entry])
    }
    expect(await world.facts({ room })).toEqual(Array(3).fill('standup.entry_saved'))
    const [fact] = await world.sql('SELECT payload FROM platform.audit_events WHERE room_id = $1 ORDER BY id', [
      room.uuid,
    ])
    const payload = { userId: writer.userId, fields: ['yesterday', 'blockers'], answered: true }
    expect(fact).toEqual({ payload })
  })

  it('ROOM-91 parallel first writes leave one row with what each of them said', async () => {
    const { room, host } = await standup(world)
    const texts = ['yesterday', 'today', 'blockers']
    const sent = await Promise.all(texts.map((text) => put(host, room, { [text]: text })))
    expect(sent.every(({ __typename }) => __typename === 'StandupEntryPutPayload')).toBe(true)
    expect(await rowsOf(room)).toEqual([
      { user_id: host.userId, yesterday: 'yesterday', today: 'today', blockers: 'blockers' },
    ])
    expect((await world.events(room)).map(({ type }) => type)).toEqual(Array(3).fill('EntryChanged'))
  })

  it('ROOM-4, ROOM-91 writing what is there already changes nothing, nor does saying nothing', async () => {
    const { room, host } = await standup(world)
    await put(host, room, { today: 'Work' })
    const silent = await world.member()
    const changed = await changes(world, room, async () => {
      expect(await put(host, room, { today: ' Work ', yesterday: '  ' })).toMatchObject({ entry: { today: 'Work' } })
      expect(await put(host, room, {})).toMatchObject({ __typename: 'StandupEntryPutPayload' })
      expect(await put(silent, room, { today: '' })).toMatchObject({ entry: null })
    })
    expect(changed).toBe(false)
  })

  it('ROOM-91 an entry is answered while any of the three says something', async () => {
    const { room, host } = await standup(world)
    for (const text of ['yesterday', 'today', 'blockers']) {
      expect(await put(host, room, { [text]: 'x' })).toMatchObject({ entry: { answered: true } })
      expect(await put(host, room, { [text]: ' \n ' })).toMatchObject({ entry: { answered: false } })
    }
  })

  it('ROOM-7, ROOM-91 takes 2,000 characters of each and no more', async () => {
    const { room, host } = await standup(world)
    expect(await put(host, room, { today: `${'𝔸'.repeat(2_000)} ` })).toMatchObject({ entry: { answered: true } })
    for (const text of ['yesterday', 'today', 'blockers']) {
      expect(await put(host, room, { [text]: 'x'.repeat(2_001) })).toMatchObject({
        code: 'INVALID_INPUT',
        issues: [{ path: ['input', text] }],
      })
    }
  })

  it('ROOM-21, ROOM-22, ROOM-155 members and guests answer, spectators and viewers do not, others find nothing', async () => {
    const { room, host } = await standup(world)
    const insiders = [
      host,
      await world.guest(room),
      await world.anonymous(),
      await world.agent(),
      await world.embedded(await world.member()),
    ]
    for (const insider of insiders) expect(await put(insider, room, { today: 'x' })).toMatchObject({ entry: {} })
    for (const watcher of [
      await world.member({ spectator: true }),
      await world.viewer(),
      await world.agent({ spectator: true }),
    ]) {
      expect(await put(watcher, room, { today: 'x' })).toMatchObject({ code: 'FORBIDDEN' })
      expect(await ready(watcher, room)).toMatchObject({ code: 'FORBIDDEN' })
    }
    const elsewhere = (await standup(world)).room
    const outsiders = [
      await world.outsider(),
      await world.otherOrg(),
      await world.guest(elsewhere),
      await world.member({ space: null, role: 'admin' }),
    ]
    for (const outsider of outsiders) {
      expect(await put(outsider, room, { today: 'x' })).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'roomId'] })
      expect(await seen(outsider, room)).toBeNull()
    }
    const { standup: shown } = await seen(host, room)
    expect(shown.entries.map(({ userId }: { userId: string }) => userId)).toEqual(idsOf(insiders))
  })

  it('ROOM-5, ROOM-33 takes no entry in a done standup, and none where poker is played', async () => {
    const { room, host } = await standup(world)
    await end(host, room)
    const { room: poker } = await world.pokerRoom({ host })
    const acts = [
      (where: TestRoom) => put(host, where, { today: 'x' }),
      (where: TestRoom) => ready(host, where),
      (where: TestRoom) => skip(host, where, host),
    ]
    for (const act of acts) {
      expect(await act(room)).toMatchObject({ code: 'ROOM_ENDED' })
      expect(await act(poker)).toMatchObject({ code: 'WRONG_PHASE' })
    }
    expect(await rowsOf(room)).toEqual([])
  })
})

describe('ROOM-92', () => {
  it('ROOM-92 somebody is ready or not, while the standup gathers', async () => {
    const { room, host, people } = await standup(world, { people: 1 })
    const [other] = people as [Actor]
    expect(await ready(other, room)).toMatchObject({ entry: { ready: true } })
    expect(await ready(other, room, false)).toMatchObject({ entry: { ready: false } })
    expect(
      await changes(world, room, async () => {
        await ready(other, room, false)
        await ready(host, room, false)
      }),
    ).toBe(false)
    await ready(other, room)
    expect(await world.events(room)).toMatchObject(
      [true, false, true].map((on) => ({
        type: 'EntryReadyChanged',
        payload: { userId: other.userId, ready: on },
      })),
    )
    expect(await world.facts({ room })).toEqual(Array(3).fill('standup.ready_set'))

    await start(host, room)
    expect(await ready(other, room, false)).toMatchObject({ code: 'WRONG_PHASE', phase: 'speak' })
    expect(
      (await seen(host, room)).standup.entries.find(({ userId }: { userId: string }) => userId === other.id),
    ).toMatchObject({ ready: true })
  })

  it('ROOM-92 nothing goes by it: not who speaks, in which order, or what was answered', async () => {
    const { room, host, people } = await standup(world, { people: 2 })
    const [first, absent] = people as [Actor, Actor]
    await world.depart(room, absent)
    await ready(absent, room)
    const { room: started } = await start(host, room)
    expect(started.standup).toMatchObject({
      currentSpeakerId: host.id,
      order: [host, first].map(({ id }) => ({ userId: id, spoken: false, skipped: false })),
    })
  })
})
