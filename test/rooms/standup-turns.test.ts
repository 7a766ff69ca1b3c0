import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'
import { arrange, attach, gather, idsOf, orderIn, pass, put, seen, skip, standup, start } from './standup-circle.ts'
import { changes } from './traces.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

type Three = [Actor, Actor, Actor]
/** A host and two others who speak in this order; the host has the turn. */
async function speaking(setup: Parameters<typeof standup>[1] = {}): Promise<{ room: TestRoom; circle: Three }> {
  const { room, host, people } = await standup(world, { people: 2, ...setup })
  expect(await start(host, room)).toMatchObject({ __typename: 'StandupStartPayload' })
  return { room, circle: [host, ...people] as Three }
}
const typesOf = async (room: TestRoom, from = 0) => (await world.events(room)).slice(from).map(({ type }) => type)
const turn = (userId: string, spoken = false, skipped = false) => ({ userId, spoken, skipped })
const seconds = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1_000

describe('ROOM-93', () => {
  it('ROOM-93, ROOM-96 begins with those who are present and those who have answered, as they came', async () => {
    const { room, host, people } = await standup(world, { people: 4, speakerSeconds: 90 })
    const [first, absent, answered, watcher] = people as [Actor, Actor, Actor, Actor]
    await put(answered, room, { today: 'Work' })
    for (const person of [absent, answered]) await world.depart(room, person)
    await world.sql('UPDATE rooms.space_members SET spectator = true WHERE user_id = $1', [watcher.userId])
    const guest = await world.guest(room)
    await world.attend(room, guest)
    const later = await world.member() // never came, but has answered
    await put(later, room, { blockers: 'None' })
    await put(await world.member(), room, { today: '' })

    const order = [host, first, answered, guest, later]
    const { room: started } = await start(host, room)
    expect(started).toMatchObject({
      phase: 'speak',
      standup: {
        order: idsOf(order).map((id) => turn(id)),
        currentSpeakerId: host.id,
        currentSpeaker: { id: host.id },
      },
    })
    expect(seconds(started.timer.startedAt, started.timer.endsAt)).toBe(90)
    expect(started.timer).toMatchObject({ startedAt: started.standup.speakerStartedAt, onEnd: 'NONE' })
    const stored = await world.sql<{ user_id: string }>(
      'SELECT user_id FROM rooms.standup_entries WHERE room_id = $1 AND speak_order IS NOT NULL ORDER BY speak_order',
      [room.uuid],
    )
    expect(stored.map(({ user_id }) => user_id)).toEqual(order.map(({ userId }) => userId))
    expect((await seen(guest, room)).standup.entries).toHaveLength(5) // blank ones, too
    expect(await typesOf(room, 2)).toEqual(['RoomPhaseChanged', 'SpeakingStarted', 'SpeakerChanged'])
    const [fact] = await world.sql(
      `SELECT payload FROM platform.audit_events WHERE room_id = $1 AND event_type = 'standup.started'`,
      [room.uuid],
    )
    expect(fact).toEqual({ payload: { order: 'JOINED', people: 5, speakerId: host.userId } })
  })

  it('ROOM-93 shuffles on the server, and everybody sees the one order that was stored', async () => {
    const { room, host, people } = await standup(world, { people: 5 })
    const orders = new Set<string>()
    for (let at = 0; at < 12 && orders.size < 2; at++) {
      const { room: started } = await start(host, room, 'SHUFFLED')
      const order = orderIn(started)
      expect(order.toSorted()).toEqual(idsOf([host, ...people]).toSorted())
      expect(started.standup.currentSpeakerId).toBe(order[0])
      expect(orderIn(await seen(people[0]!, room))).toEqual(order)
      orders.add(order.join())
      await gather(host, room)
    }
    expect(orders.size).toBe(2)
  })

  it('ROOM-5, ROOM-93 starts while it gathers alone; of two starts at once one does', async () => {
    const { room, host } = await standup(world)
    const both = await Promise.all([start(host, room), start(host, room)])
    expect(both.map(({ code }) => code).toSorted()).toEqual(['WRONG_PHASE', undefined])
    await host.mutate('roomEnd', { roomId: room.id })
    expect(await start(host, room)).toMatchObject({ code: 'ROOM_ENDED' })
    for (const act of [() => gather(host, room), () => pass(host, room, host), () => arrange(host, room, [])]) {
      expect(await act()).toMatchObject({ code: 'ROOM_ENDED' })
    }
  })

  it('ROOM-93 appends who attaches or answers later, once', async () => {
    const { room, circle } = await speaking({ people: 1 })
    const attacher = await world.member()
    const guest = await world.guest(room)
    const answerer = await world.member()
    const watcher = await world.member({ spectator: true })
    for (const person of [attacher, guest, watcher, attacher]) await attach(person, room)
    await put(answerer, room, { today: 'Work' })
    await put(answerer, room, { today: 'More work' })
    await put(attacher, room, { today: 'Work' })
    const expected = [circle[0], circle[1], attacher, guest, answerer]
    expect(orderIn(await seen(circle[0], room))).toEqual(idsOf(expected))
    expect(await typesOf(room)).toEqual([
      'RoomPhaseChanged',
      'SpeakingStarted',
      'SpeakerChanged',
      ...['ParticipantJoined', 'OrderChanged', 'ParticipantJoined', 'OrderChanged', 'ParticipantJoined'],
      ...['EntryChanged', 'OrderChanged', 'EntryChanged', 'EntryChanged'],
    ])
  })

  it('ROOM-93 whoever was away at the start, and came back, is appended too', async () => {
    const { room, host, people } = await standup(world, { people: 1 })
    const [away] = people as [Actor]
    await world.depart(room, away)
    await start(host, room)
    await attach(away, room)
    await attach(away, room)
    expect(orderIn(await seen(host, room))).toEqual(idsOf([host, away]))
  })

  it('ROOM-93 a host rearranges those who have not spoken; whoever is not named follows', async () => {
    const { room, circle } = await speaking({ people: 4 })
    const [host, first] = circle
    const [, , second, third, fourth] = orderIn(await seen(host, room)) as [string, string, string, string, string]
    const named = (...ids: string[]) => ids.map((id) => ({ id }))
    await pass(host, room, host) // `first` has the turn now
    const { room: arranged } = await arrange(host, room, named(fourth, second))
    expect(orderIn(arranged)).toEqual([host.id, first.id, fourth, second, third])
    expect(arranged.standup.currentSpeakerId).toBe(first.id)
    expect(await changes(world, room, () => arrange(host, room, named(fourth)))).toBe(false)
    expect(await arrange(host, room, [host])).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'userIds', '0'], message: 'has spoken' }],
    })
    expect(await arrange(host, room, named(third, third))).toMatchObject({
      issues: [{ path: ['input', 'userIds', '1'] }],
    })
    for (const stranger of [await world.member(), await world.otherOrg()]) {
      expect(await arrange(host, room, [stranger])).toMatchObject({
        code: 'NOT_FOUND',
        path: ['input', 'userIds', '0'],
      })
    }
    const { room: passed } = await pass(first, room, first)
    expect(passed.standup.currentSpeakerId).toBe(fourth)
    expect(await world.facts({ room })).toContain('standup.order_set')
  })
})

it('ROOM-40, ROOM-93 to 97 a co-facilitator leads a standup, a former facilitator no longer does', async () => {
  const { room, host, people } = await standup(world, { people: 2 })
  const [cohost, heir] = people as [Actor, Actor]
  await host.mutate('roomCofacilitatorSet', { roomId: room.id, userId: cohost.id, on: true })
  await host.mutate('roomFacilitatorHandOver', { roomId: room.id, userId: heir.id })
  expect(await start(host, room)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await start(cohost, room)).toMatchObject({ room: { phase: 'speak' } })
  const [, second, third] = orderIn(await seen(cohost, room)).map((id) => ({ id }))
  expect(await arrange(cohost, room, [third!, second!])).toMatchObject({ __typename: 'StandupOrderSetPayload' })
  expect(await pass(cohost, room, host)).toMatchObject({ room: { standup: { currentSpeakerId: third!.id } } })
  expect(await skip(cohost, room, third!)).toMatchObject({ room: { standup: { currentSpeakerId: second!.id } } })
  expect(await gather(cohost, room)).toMatchObject({ room: { phase: 'gather' } })
})

describe('ROOM-94', () => {
  it('ROOM-94 goes on from one to the next, after the last to nobody', async () => {
    const { room, circle } = await speaking()
    const [host, second, third] = circle
    const { room: passed } = await pass(host, room, host)
    expect(passed.standup).toMatchObject({
      currentSpeakerId: second.id,
      order: [turn(host.id, true), turn(second.id), turn(third.id)],
    })
    expect(passed.standup.entries[0].spokenAt).toBe(passed.standup.speakerStartedAt)
    await pass(second, room, second) // whoever has the turn may
    const { room: closing } = await pass(host, room, third)
    expect(closing).toMatchObject({
      phase: 'speak',
      timer: null,
      standup: { currentSpeakerId: null, currentSpeaker: null, speakerStartedAt: null },
    })
    expect(closing.standup.order.every(({ spoken }: { spoken: boolean }) => spoken)).toBe(true)
    expect(await changes(world, room, () => pass(host, room, null))).toBe(false)
    const facts = await world.sql(
      `SELECT payload FROM platform.audit_events WHERE room_id = $1 AND event_type = 'standup.speaker_changed' ORDER BY id`,
      [room.uuid],
    )
    const changed = (speaker: Actor | null, previous: Actor) => ({
      payload: { speakerId: speaker?.userId ?? null, previousId: previous.userId, reason: 'NEXT' },
    })
    expect(facts).toEqual([changed(second, host), changed(third, second), changed(null, third)])
  })

  it('ROOM-94 a double click skips nobody: of two calls that expect the same speaker one is a conflict', async () => {
    const { room, circle } = await speaking({ people: 8 })
    const [host] = circle
    const order = orderIn(await seen(host, room))
    for (const id of order.slice(0, 6)) {
      const clicks = await Promise.all([pass(host, room, { id }), pass(host, room, { id })])
      expect(clicks.map(({ code }) => code ?? 'ok').toSorted()).toEqual(['CONFLICT', 'ok'])
    }
    expect((await seen(host, room)).standup.currentSpeakerId).toBe(order[6])
    // Their own second click as well, though the turn is another's by then.
    const [seventh] = circle.filter(({ id }) => id === order[6])
    const speaker = seventh ?? host
    expect(
      (await Promise.all([pass(speaker, room, { id: order[6]! }), pass(speaker, room, { id: order[6]! })])).length,
    ).toBe(2)
    expect((await seen(host, room)).standup.currentSpeakerId).toBe(order[7])
  })

  it('ROOM-94 only a host or whoever has the turn ends it', async () => {
    const { room, circle } = await speaking()
    const [host, second, third] = circle
    const guest = await world.guest(room)
    for (const other of [second, third, guest, await world.embedded(), await world.viewer(), await world.agent()]) {
      expect(await pass(other, room, host)).toMatchObject({ code: 'FORBIDDEN' })
    }
    expect(await pass(third, room, second)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await pass(host, room, third)).toMatchObject({ code: 'CONFLICT' })
    expect(await pass(host, room, null)).toMatchObject({ code: 'CONFLICT' })
    expect(await pass(host, room, await world.otherOrg())).toMatchObject({ code: 'NOT_FOUND' })
    expect(await pass(await world.outsider(), room, host)).toMatchObject({ code: 'NOT_FOUND' })

    await pass(host, room, host)
    expect(await pass(host, room, host)).toMatchObject({ code: 'CONFLICT' })
    expect(await pass(second, room, second)).toMatchObject({ room: { standup: { currentSpeakerId: third.id } } })
    expect(await pass(second, room, second)).toMatchObject({ code: 'CONFLICT' })
  })

  it('ROOM-155 a guest has a turn like anybody, and ends it', async () => {
    const { room, host } = await standup(world)
    const guest = await world.guest(room)
    await put(guest, room, { today: 'Visit' })
    await start(host, room)
    await pass(host, room, host)
    expect(await pass(guest, room, guest)).toMatchObject({ room: { standup: { currentSpeakerId: null } } })
    expect(await pass(guest, room, null)).toMatchObject({ code: 'FORBIDDEN' })
  })

  it('ROOM-93, ROOM-94 from the closing beat a host goes on with whoever came later', async () => {
    const { room, circle } = await speaking({ people: 0 })
    const [host] = circle
    await pass(host, room, host)
    const late = await world.member()
    await put(late, room, { today: 'Work' })
    expect((await seen(host, room)).standup).toMatchObject({ currentSpeakerId: null })
    expect(await pass(late, room, null)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await pass(host, room, null)).toMatchObject({ room: { standup: { currentSpeakerId: late.id } } })
  })
})

describe('ROOM-95', () => {
  it('ROOM-95 skipping the speaker passes the turn on, unskipping returns them to the end', async () => {
    const { room, circle } = await speaking()
    const [host, second, third] = circle
    expect(await skip(host, room, host)).toMatchObject({
      entry: { skipped: true },
      room: {
        standup: { currentSpeakerId: second.id, order: [turn(host.id, false, true), turn(second.id), turn(third.id)] },
      },
    })
    expect(await skip(third, room, third)).toMatchObject({ room: { standup: { currentSpeakerId: second.id } } })
    expect(await skip(host, room, host, false)).toMatchObject({
      room: { standup: { order: [turn(second.id), turn(third.id, false, true), turn(host.id)] } },
    })
    // The skipped third is passed over.
    expect(await pass(second, room, second)).toMatchObject({ room: { standup: { currentSpeakerId: host.id } } })
    expect(await changes(world, room, () => skip(third, room, third))).toBe(false)
    expect(await typesOf(room, 3)).toEqual([
      'OrderChanged',
      'SpeakerChanged',
      'OrderChanged',
      'OrderChanged',
      'SpeakerChanged',
    ])
    const reasons = (await world.events(room)).flatMap(({ payload }) => payload['reason'] ?? [])
    expect(reasons).toEqual(['NEXT', 'SKIP', 'NEXT'])
    expect((await world.facts({ room })).slice(1)).toEqual([
      ...['standup.speaker_skipped', 'standup.speaker_changed', 'standup.speaker_skipped', 'standup.speaker_skipped'],
      'standup.speaker_changed',
    ])
  })

  it('ROOM-95, ROOM-93 somebody skipped before the start is in the order and not the first', async () => {
    const { room, host, people } = await standup(world, { people: 1 })
    const [other] = people as [Actor]
    expect(await skip(host, room, host)).toMatchObject({ entry: { skipped: true } })
    expect(await typesOf(room)).toEqual(['EntryChanged'])
    expect(await start(host, room)).toMatchObject({
      room: { standup: { currentSpeakerId: other.id, order: [turn(host.id, false, true), turn(other.id)] } },
    })
    const alone = await standup(world)
    await skip(alone.host, alone.room, alone.host)
    expect(await start(alone.host, alone.room)).toMatchObject({
      room: { phase: 'speak', timer: null, standup: { currentSpeakerId: null } },
    })
  })

  it('ROOM-95 a host skips anybody, others only themselves; of others there is nobody', async () => {
    const { room, circle } = await speaking()
    const [host, second, third] = circle
    for (const other of [third, await world.guest(room), await world.embedded(), await world.viewer()]) {
      expect(await skip(other, room, second)).toMatchObject({ code: 'FORBIDDEN' })
    }
    expect(await skip(host, room, await world.member({ spectator: true }))).toMatchObject({ code: 'INVALID_INPUT' })
    const elsewhere = await world.guest((await standup(world)).room)
    for (const stranger of [await world.otherOrg(), await world.outsider(), elsewhere]) {
      expect(await skip(host, room, stranger)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'userId'] })
    }
    expect(await skip(host, room, second)).toMatchObject({ entry: { skipped: true } })
  })
})

describe('ROOM-96', () => {
  it('ROOM-80, ROOM-96 each turn sets the timer, which the hosts may move and stop', async () => {
    const { room, circle } = await speaking({ speakerSeconds: 60 })
    const [host, second, third] = circle
    const extended = await host.mutate(
      'roomTimerExtend',
      { roomId: room.id, seconds: 30 },
      'room { timer { startedAt endsAt } }',
    )
    expect(seconds(extended['room'].timer.startedAt, extended['room'].timer.endsAt)).toBe(90)
    const { room: next } = await pass(host, room, host)
    expect(seconds(next.timer.startedAt, next.timer.endsAt)).toBe(60)
    expect(next.standup.speakerStartedAt).toBe(next.timer.startedAt)
    await host.mutate('roomTimerStop', { roomId: room.id })
    expect(await seen(host, room)).toMatchObject({ timer: null, standup: { currentSpeakerId: second.id } })
    await pass(host, room, second)
    await world.sql(
      `UPDATE rooms.rooms SET timer_started_at = now() - interval '2 hours', timer_ends_at = now() - interval '1 hour' WHERE id = $1`,
      [room.uuid],
    )
    // A turn does not end by itself, however long its time is over.
    expect((await seen(host, room)).standup.currentSpeakerId).toBe(third.id)
  })

  it('ROOM-96 without a length turns leave the timer to the hosts', async () => {
    const { room, circle } = await speaking({ speakerSeconds: 0 })
    const [host, second, third] = circle
    expect(await seen(host, room)).toMatchObject({ timer: null })
    const { timer } = (
      await host.mutate('roomTimerStart', { roomId: room.id, seconds: 600 }, 'room { timer { endsAt } }')
    )['room']
    for (const speaker of [host, second, third]) await pass(host, room, speaker)
    expect(await seen(host, room)).toMatchObject({ timer, standup: { currentSpeakerId: null } })
  })
})

describe('ROOM-97', () => {
  it('ROOM-97 goes back to gathering without speaker, order and what was spoken; entries stay', async () => {
    const { room, circle } = await speaking()
    const [host, second] = circle
    await put(host, room, { today: 'Work' })
    await skip(host, room, circle[2])
    await pass(host, room, host)
    for (const other of [second, await world.guest(room), await world.embedded()]) {
      expect(await gather(other, room)).toMatchObject({ code: 'FORBIDDEN' })
    }
    const { room: gathered } = await gather(host, room)
    expect(gathered).toMatchObject({
      phase: 'gather',
      timer: null,
      standup: { currentSpeakerId: null, speakerStartedAt: null, order: [] },
    })
    expect(gathered.standup.entries).toMatchObject([
      { userId: host.id, today: 'Work', spokenAt: null },
      { userId: second.id, spokenAt: null },
      { userId: circle[2].id, skipped: true },
    ])
    expect(await typesOf(room)).toContain('RoomPhaseChanged')
    expect(await changes(world, room, () => gather(host, room))).toBe(false)
    expect(await start(host, room)).toMatchObject({ room: { standup: { currentSpeakerId: host.id } } })
  })
})

describe('ROOM-33', () => {
  it('ROOM-24, ROOM-33 the end clears speaker and timer and keeps who spoke; reopened, the order is fresh', async () => {
    const { room, circle } = await speaking()
    const [host, second] = circle
    await pass(host, room, host)
    const ended = await host.mutate('roomEnd', { roomId: room.id })
    expect(ended).toMatchObject({ __typename: 'RoomEndPayload' })
    expect(await seen(host, room)).toMatchObject({
      phase: 'done',
      timer: null,
      standup: { currentSpeakerId: null, speakerStartedAt: null, order: [turn(host.id, true), turn(second.id), {}] },
    })
    await world.sql(`UPDATE rooms.rooms SET closes_at = now() - interval '1 minute' WHERE id = $1`, [room.uuid])
    await host.mutate('roomReopen', { roomId: room.id })
    expect(await seen(host, room)).toMatchObject({
      phase: 'gather',
      endedAt: null,
      standup: { order: [], closesAt: null, entries: circle.map(({ id }) => ({ userId: id, spokenAt: null })) },
    })
    expect(await start(host, room)).toMatchObject({
      room: { standup: { currentSpeakerId: host.id, order: circle.map(({ id }) => turn(id)) } },
    })
    // Nobody's having spoken keeps their row (ROOM-24).
    await host.mutate('roomEnd', { roomId: room.id })
    await world.sql('DELETE FROM identity.sessions WHERE user_id = $1', [second.userId])
    await world.sql('DELETE FROM identity.users WHERE id = $1', [second.userId])
    expect((await seen(host, room)).standup.entries).toHaveLength(2)
  })

  it('ROOM-24 the row of whoever has the turn cannot be deleted', async () => {
    const { room, circle } = await speaking()
    await pass(circle[0], room, circle[0])
    await expect(world.sql('DELETE FROM identity.users WHERE id = $1', [circle[1].userId])).rejects.toMatchObject({
      code: '23503',
      constraint: 'rooms_current_speaker_id_fkey',
    })
  })
})
