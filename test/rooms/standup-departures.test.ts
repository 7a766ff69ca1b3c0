import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { revokeMembership } from '../../src/identity/membership/revoke-membership.ts'
import { change } from '../../src/rooms/room/change.ts'
import { departureSteps } from '../../src/rooms/room/depart.ts'
import { lockRoomAsSystem } from '../../src/rooms/room/lock-room.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'
import { attach, idsOf, orderIn, pass, put, seen, standup, start } from './standup-circle.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const erase = async (person: Actor) => {
  const { viewer } = await person.run('{ viewer { user { displayName } } }')
  expect(await person.mutate('viewerErase', { confirm: viewer.user.displayName })).toMatchObject({
    __typename: 'ViewerErasePayload',
  })
}
const revoke = ({ userId }: Actor) => {
  const { orgId, userId: by, sessionId } = world.owner
  const person = { kind: 'session', account: 'registered', standing: 'OWNER', embedded: false } as const
  return operation('write', { orgId, userId: by }, () =>
    revokeMembership({ ...person, orgId, userId: by, sessionId }, { userId }),
  )
}
const remove = ({ id }: Actor) => world.owner.mutate('spaceMemberRemove', { id: world.home.id, userId: id })
const speakerIn = async (room: TestRoom): Promise<string | null> => {
  const [row] = await world.sql<{ id: string | null }>(
    'SELECT current_speaker_id AS id FROM rooms.rooms WHERE id = $1',
    [room.uuid],
  )
  return row!.id
}

const WAYS: [how: string, depart: (person: Actor) => Promise<unknown>][] = [
  ['leaves the space', (person) => person.mutate('spaceLeave', { id: world.home.id })],
  ['is removed', remove],
  ['loses the org', revoke],
  ['is erased', erase],
]

describe('ROOM-23', () => {
  it.each(WAYS)('ROOM-23 the turn of somebody who %s goes on, and they are out of the order', async (_how, depart) => {
    const { room, host, people } = await standup(world, { people: 2 })
    const [speaker, third] = people as [Actor, Actor]
    await put(speaker, room, { today: 'Work' })
    await start(host, room)
    await pass(host, room, host)
    expect(await speakerIn(room)).toBe(speaker.userId)
    const before = (await world.events(room)).length
    await depart(speaker)

    const shown = await seen(host, room)
    expect(shown.standup).toMatchObject({ currentSpeakerId: third.id, speakerStartedAt: shown.timer.startedAt })
    expect(orderIn(shown)).toEqual(idsOf([host, third]))
    expect(shown.standup.entries.map(({ userId }: { userId: string }) => userId)).toContain(speaker.id) // entries stay
    const events = (await world.events(room)).slice(before)
    expect(events.map(({ type }) => type)).toEqual(['ParticipantLeft', 'OrderChanged', 'SpeakerChanged'])
    expect(events[2]!.payload).toMatchObject({
      speakerId: third.userId,
      previousId: speaker.userId,
      spokenAt: null,
      reason: 'DEPARTED',
    })
    expect(await world.facts({ room })).toContain('standup.speaker_changed')
    // Nothing of it keeps their row (ROOM-24).
    await world.sql('DELETE FROM identity.sessions WHERE user_id = $1', [speaker.userId])
    await world.sql('DELETE FROM identity.users WHERE id = $1', [speaker.userId])
  })

  it('ROOM-23 after the last one nobody has the turn, and the timer stops', async () => {
    const { room, host, people } = await standup(world, { people: 1 })
    const [last] = people as [Actor]
    await start(host, room)
    await pass(host, room, host)
    await remove(last)
    expect(await seen(host, room)).toMatchObject({ phase: 'speak', timer: null, standup: { currentSpeakerId: null } })
  })

  it('ROOM-23 somebody who waits for their turn is out of the order; who has spoken stays in it as one who has', async () => {
    const { room, host, people } = await standup(world, { people: 2 })
    const [spoken, waiting] = people as [Actor, Actor]
    await put(waiting, room, { today: 'Work' })
    await start(host, room)
    await pass(host, room, host)
    await pass(host, room, spoken)
    for (const person of [spoken, waiting]) await remove(person)
    expect((await seen(host, room)).standup).toMatchObject({
      currentSpeakerId: null,
      order: [
        { userId: host.id, spoken: true },
        { userId: spoken.id, spoken: true },
      ],
    })
    // Whoever comes back speaks after the others.
    await world.join(waiting)
    await attach(waiting, room)
    expect(orderIn(await seen(host, room))).toEqual(idsOf([host, spoken, waiting]))
  })

  it('ROOM-23, ROOM-93 nobody who departed comes into the order of a start, though what they wrote stays', async () => {
    const { room, host, people } = await standup(world, { people: 1 })
    const [gone] = people as [Actor]
    const guest = await world.guest(room)
    for (const person of [gone, guest]) await put(person, room, { today: 'Work' })
    await remove(gone)
    await world.sql('UPDATE rooms.room_links SET revoked_at = now() WHERE room_id = $1', [room.uuid])
    const { room: started } = await start(host, room)
    expect(orderIn(started)).toEqual([host.id])
    expect(started.standup.entries).toHaveLength(3)
  })

  it('ROOM-23, ROOM-24 somebody who only answered, and is removed while they do, is in no order afterwards', async () => {
    const { room, host } = await standup(world)
    await start(host, room)
    const person = await world.member() // follows no room, so nothing says where they are
    const entries = await world.hold('LOCK TABLE rooms.room_events IN ACCESS EXCLUSIVE MODE')
    const answered = put(person, room, { today: 'Work' })
    await world.untilBlocked(1)
    const removed = remove(person)
    await world.untilBlocked(2)
    await entries.release()
    expect(await answered).toMatchObject({ __typename: 'StandupEntryPutPayload' })
    expect(await removed).toMatchObject({ __typename: 'SpaceMemberRemovePayload' })
    expect(orderIn(await seen(host, room))).toEqual([host.id])
    expect(await pass(host, room, host)).toMatchObject({ room: { standup: { currentSpeakerId: null } } })
  })
})

describe('a guest', () => {
  /** A guest has the turn, another one follows, then a member. */
  async function guestSpeaks() {
    const { room, host, people } = await standup(world, { people: 1 })
    const [member] = people as [Actor]
    const guests = [await world.guest(room), await world.guest(room)] as [Actor, Actor]
    for (const guest of guests) await attach(guest, room)
    await start(host, room)
    await host.mutate('standupOrderSet', { roomId: room.id, userIds: [...idsOf(guests), member.id] })
    await pass(host, room, host)
    expect(await speakerIn(room)).toBe(guests[0].userId)
    return { room, host, member, guests }
  }

  it('ROOM-23, ROOM-154 those of a revoked link depart together: no turn goes from one to another', async () => {
    const { room, host, member, guests } = await guestSpeaks()
    const before = (await world.events(room)).length
    await operation('write', { orgId: room.orgId }, async () => {
      const locked = await lockRoomAsSystem(room.orgId, room.uuid)
      const users = guests.map(({ userId }) => userId)
      await change({ kind: 'system', orgId: room.orgId }, locked!, await departureSteps(locked!, users, 'REVOKED'))
    })
    expect((await seen(host, room)).standup.currentSpeakerId).toBe(member.id)
    expect(orderIn(await seen(host, room))).toEqual(idsOf([host, member]))
    expect((await world.events(room)).slice(before).map(({ type }) => type)).toEqual([
      ...['ParticipantLeft', 'ParticipantLeft', 'OrderChanged', 'SpeakerChanged'],
    ])
  })

  it('ROOM-23, ROOM-24 who erases themself passes the turn on, and nothing keeps their row', async () => {
    const { room, host, guests } = await guestSpeaks()
    await erase(guests[0])
    expect((await seen(host, room)).standup.currentSpeakerId).toBe(guests[1].id)
    expect(orderIn(await seen(host, room))).not.toContain(guests[0].id)
  })

  it('ROOM-154 of a revoked link is appended to no order', async () => {
    const { room, host } = await standup(world)
    await start(host, room)
    const guest = await world.guest(room)
    const held = await world.hold('SELECT FROM rooms.rooms WHERE id = $1 FOR UPDATE', [room.uuid])
    const answered = put(guest, room, { today: 'Visit' })
    await world.untilBlocked(1)
    await world.sql('UPDATE rooms.room_links SET revoked_at = now() WHERE room_id = $1', [room.uuid])
    await held.release()
    await answered
    expect(orderIn(await seen(host, room))).toEqual([host.id])
  })
})
