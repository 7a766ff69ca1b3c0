import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { type Frame, openRoomStream, type Stream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
const streams: Stream[] = []
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(async () => {
  for (const stream of streams) stream.close()
  await world.close()
})

type Asked = { query?: string; sinceVersion?: string; connectionId?: string }
function follow(actor: Actor, room: { id: string }, { query, ...more }: Asked = {}): Stream {
  const variables = { roomId: room.id, ...more }
  const stream = openRoomStream({
    url: `${world.app.url}/graphql`,
    token: actor.client.token!,
    variables,
    ...(query && { query }),
  })
  streams.push(stream)
  return stream
}

const is = (type: string) => (event: Frame) => event.__typename === type
const snapshotOf = (stream: Stream) => stream.next(is('RoomSnapshot'), 'the snapshot')
const upTo = (stream: Stream, version: number) =>
  stream.next((event) => Number(event.version) >= version, `version ${version}`)
const headOf = async (actor: Actor, room: { id: string }) => Number((await actor.room(room)).version)

describe('order and replay', () => {
  it('ROOM-170 sends a snapshot first and then every version in order', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 3 })
    const stream = follow(host, room)
    const snapshot = await snapshotOf(stream)
    expect(snapshot.room.version).toBe(snapshot.version)

    await Promise.all(voters.map((voter) => voter.vote(room, '5')))
    await host.reveal(room)

    expect((await stream.next(is('RoundRevealed'))).result).toEqual({ counted: 3, average: 5 })
    const versions = stream.versions()
    expect(versions).toEqual(versions.map((_, at) => versions[0]! + at))
  })

  it('ROOM-170 continues from any stored version without gap or repeat, and snapshots where it cannot', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 5 })
    const first = await headOf(host, room)
    for (const voter of voters) await voter.vote(room, '3')
    await host.reveal(room)
    const last = await headOf(host, room)

    for (let since = first; since < last; since++) {
      const stream = follow(voters[0]!, room, { sinceVersion: String(since) })
      await upTo(stream, last)
      expect(stream.versions()).toEqual(Array.from({ length: last - since }, (_, at) => since + at + 1))
      expect(stream.events.some(is('RoomSnapshot'))).toBe(false)
      stream.close()
    }
    for (const since of [last + 100, 0]) {
      const stream = follow(voters[0]!, room, { sinceVersion: String(since) })
      const snapshot = await snapshotOf(stream)
      expect(Number(snapshot.version)).toBeGreaterThanOrEqual(last)
      expect(stream.events[0]).toBe(snapshot)
      expect(snapshot.room.poker).toMatchObject({ revealed: true })
      stream.close()
    }
  })

  it('ROOM-170 answers a version without a stored event with a snapshot', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    const stream = follow(host, room)
    await snapshotOf(stream)
    const before = await headOf(host, room)
    await world.sql(`UPDATE rooms.rooms SET title = 'by hand' WHERE id = $1`, [room.uuid])
    await voters[0]!.vote(room, '8')
    const snapshot = await stream.next((event) => event.__typename === 'RoomSnapshot' && event.room.title === 'by hand')
    // The notice of the change by hand may be answered before or after the vote: what the snapshot says fits its version.
    expect(snapshot.room.poker.votedUserIds).toEqual(Number(snapshot.version) > before + 1 ? [voters[0]!.id] : [])
    await voters[1]!.vote(room, '8')
    const cast = await stream.next((event) => event.__typename === 'VoteCast' && event.userId === voters[1]!.id)
    const versions = stream.versions().slice(stream.events.indexOf(snapshot))
    expect(versions).toEqual(versions.map((_, at) => Number(snapshot.version) + at))
    expect(versions.at(-1)).toBe(Number(cast.version))
  })

  it('ROOM-172 snapshots contain exactly the events up to their version, while everybody votes', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 12 })
    const base = follow(host, room)
    const start = await snapshotOf(base)
    const joined: Stream[] = []
    await Promise.all(
      voters.map(async (voter, at) => {
        joined.push(follow(host, room))
        await voter.vote(room, ['1', '2', '3'][at % 3]!)
        joined.push(follow(voter, room))
      }),
    )
    const last = await headOf(host, room)
    await upTo(base, last)
    const votesUpTo = (version: number) =>
      base.events
        .filter((event) => is('VoteCast')(event) && Number(event.version) <= version)
        .map(({ userId }) => userId)

    for (const stream of joined) {
      const snapshot = await snapshotOf(stream)
      const expected = [...start.room.poker.votedUserIds, ...votesUpTo(Number(snapshot.version))].sort()
      expect([...snapshot.room.poker.votedUserIds].sort()).toEqual(expected)
      await upTo(stream, last)
      const versions = stream.versions()
      expect(versions).toEqual(versions.map((_, at) => versions[0]! + at))
    }
  })
})

describe('secrecy', () => {
  const OWN = `subscription ($roomId: ID!) { roomEvents(roomId: $roomId) { __typename version actor { email }
    ... on StoryChanged { story { id votes { user { id } card } } }
    ... on VoteCast { userId myCard }
    ... on RoomSnapshot { room { facilitator { email } poker { myCard currentStory { votes { user { id } card } result { counted } } } } } } }`

  it('ROOM-75 gives one document to voter and member in a hidden round, and each only their own', async () => {
    const { room, host, voters, stories } = await world.pokerRoom({ voters: 2 })
    const [voter, member] = voters as [Actor, Actor]
    const secret = '13'
    await world.sql('UPDATE identity.users SET email = $2 WHERE id = $1', [host.userId, `${host.userId}@example.org`])
    const [voting, watching, owning] = [
      follow(voter, room, { query: OWN }),
      follow(member, room, { query: OWN }),
      follow(world.owner, room, { query: OWN }),
    ]
    await Promise.all([voting, watching, owning].map(snapshotOf))

    await voter.vote(room, secret)
    await host.mutate('storyUpdate', { id: stories[0], title: 'renamed' })
    const [own, others, asAdmin] = await Promise.all(
      [voting, watching, owning].map((stream) => stream.next(is('StoryChanged'))),
    )

    expect(own.story.votes).toEqual([{ user: { id: voter.id }, card: secret }])
    expect(others.story.votes).toEqual([{ user: { id: voter.id }, card: null }])
    expect([own.actor.email, others.actor.email]).toEqual([null, null])
    expect(asAdmin.actor.email).toMatch(/@/)
    expect((await voting.next(is('VoteCast'))).myCard).toBe(secret)
    expect((await watching.next(is('VoteCast'))).myCard).toBeNull()
    const late = follow(member, room, { query: OWN })
    await snapshotOf(late)
    for (const stream of [watching, owning, late]) expect(JSON.stringify(stream.answers)).not.toContain(`"${secret}"`)
    expect(world.app.log()).not.toContain(`"${secret}"`)
  })

  it('ROOM-75 sends a hidden card to nobody, whoever they are and however they look', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1, cards: ['sekret', 'other'], ordinal: true })
    const spectator = await world.member({ spectator: true })
    const viewer = await world.viewer()
    const guest = await world.guest(room)
    const watchers = [host, spectator, viewer, guest, world.owner]
    const all = watchers.map((watcher) => follow(watcher, room, { query: OWN }))
    await Promise.all(all.map(snapshotOf))
    await voters[0]!.vote(room, 'sekret')
    const last = await headOf(host, room)
    await Promise.all(all.map((stream) => upTo(stream, last)))
    for (const stream of all) expect(JSON.stringify(stream.answers)).not.toContain('sekret')

    await host.reveal(room)
    await Promise.all(all.map((stream) => stream.next(is('RoundRevealed'))))
  })

  it('ROOM-171 tells guests the version and nothing else of what is for members', async () => {
    const { room } = await world.pokerRoom()
    const guest = await world.guest(room)
    const stream = follow(guest, room)
    const { version } = await snapshotOf(stream)
    await world.sql(
      `WITH r AS (UPDATE rooms.rooms SET version = version + 1 WHERE id = $1 RETURNING org_id, id, version)
       INSERT INTO rooms.room_events (org_id, room_id, version, type, audience, payload)
       SELECT org_id, id, version, 'StoryRemoved', 'members', '{"storyId":"01890a5d-ac96-774b-bcce-b302099a8057"}' FROM r`,
      [room.uuid],
    )
    const touched = await stream.next(is('RoomTouched'))
    expect(touched).toEqual({ __typename: 'RoomTouched', version: String(Number(version) + 1) })
  })
})

describe('who listens', () => {
  it('ROOM-6 opens no stream for outsiders, other orgs, admins without membership, nobody', async () => {
    const { room } = await world.pokerRoom()
    const elsewhere = await world.pokerRoom()
    const strangers = [
      await world.outsider(),
      await world.otherOrg(),
      await world.guest(elsewhere.room),
      await world.member({ role: 'admin', space: null }),
    ]
    for (const stranger of strangers) {
      const stream = follow(stranger, room)
      await vi.waitFor(
        () =>
          expect(stream.answers.flatMap(({ errors }) => errors ?? [])).toMatchObject([
            { extensions: { code: 'NOT_FOUND' } },
          ]),
        5_000,
      )
      expect(stream.events).toEqual([])
    }
    expect(
      await world.sql('SELECT user_id FROM rooms.room_presence WHERE user_id = ANY ($1)', [
        strangers.map(({ userId }) => userId),
      ]),
    ).toEqual([])
  })

  it('ROOM-175 ends the stream of somebody removed from the space, within a second, and nothing follows', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    const leaving = await world.member()
    const [gone, stays] = [follow(leaving, room), follow(host, room)]
    await Promise.all([gone, stays].map(snapshotOf))

    const removed = Date.now()
    expect(await world.owner.mutate('spaceMemberRemove', { id: world.home.id, userId: leaving.id })).toMatchObject({
      __typename: 'SpaceMemberRemovePayload',
    })
    await vi.waitFor(() => expect(gone.closed?.complete).toBeDefined(), { timeout: 3_000, interval: 5 })
    expect(Date.now() - removed).toBeLessThan(2_000)
    const seen = gone.events.length
    await voters[0]!.vote(room, '1')
    await stays.next(is('VoteCast'))
    expect(gone.events.length).toBe(seen)
  })

  it('ROOM-34 ends with RoomDeleted, one version after the last', async () => {
    const { room, host } = await world.pokerRoom()
    const stream = follow(host, room)
    await snapshotOf(stream)
    await host.mutate('roomDelete', { id: room.id })
    const deleted = await stream.next(is('RoomDeleted'))
    expect(stream.events.at(-1)).toBe(deleted)
    const versions = stream.versions()
    expect(versions.at(-1)).toBe(versions.at(-2)! + 1)
    await vi.waitFor(() => expect(stream.closed?.complete).toBe(true), 10_000)
  })

  it('ROOM-52 keeps a person with two tabs present until the last one closes', async () => {
    const { room, host } = await world.pokerRoom()
    const visitor = await world.member()
    const watch = follow(host, room)
    await snapshotOf(watch)
    const tabs = [follow(visitor, room), follow(visitor, room)]
    await Promise.all(tabs.map(snapshotOf))
    await watch.next((event) => is('PresenceChanged')(event) && event.userIds.includes(visitor.id), 'the arrival')

    const present = async () => (await host.room(room, 'presentUserIds')).presentUserIds.includes(visitor.id)
    tabs[0]!.close()
    await vi.waitFor(
      async () =>
        expect((await world.sql('SELECT FROM rooms.room_presence WHERE user_id = $1', [visitor.userId])).length).toBe(
          1,
        ),
      5_000,
    )
    expect(await present()).toBe(true)
    tabs[1]!.close()
    await watch.next(
      (event) => is('PresenceChanged')(event) && !event.userIds.includes(visitor.id) && watch.events.indexOf(event) > 1,
      'the departure',
    )
    expect(await present()).toBe(false)
  })

  it('ROOM-53 tells whoever comes back who is there, though nothing changed since', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    const [lost, other] = voters as [Actor, Actor]
    const still = follow(lost, room) // the server does not know yet that this one is lost
    const { version } = await snapshotOf(still)
    await world.depart(room, other)
    await still.next((event) => is('PresenceChanged')(event) && !event.userIds.includes(other.id), 'the departure')

    const back = follow(lost, room, { sinceVersion: version })
    const { userIds } = await back.next(is('PresenceChanged'))
    expect(userIds.toSorted()).toEqual([host.id, lost.id].sort())
    expect(back.events.some(is('RoomSnapshot'))).toBe(false)
  })

  it('ROOM-53 takes back what a snapshot said, also when the others never heard of it', async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 2 })
    const [visitor, passer] = voters as [Actor, Actor]
    await world.depart(room, passer)
    const first = follow(visitor, room)
    await snapshotOf(first)
    // Within one interval somebody comes, is seen in a snapshot, and goes.
    await world.attend(room, passer)
    const second = follow(visitor, room)
    const snapshot = await snapshotOf(second)
    await world.depart(room, passer)
    expect(snapshot.room.presentUserIds).toContain(passer.id)
    const { userIds } = await second.next((event) => is('PresenceChanged')(event) && !event.userIds.includes(passer.id))
    expect(userIds.toSorted()).toEqual([host.id, visitor.id].sort())
  })

  it('ROOM-50 makes one participant of five first attaches at once', async () => {
    const { room } = await world.pokerRoom()
    const visitor = await world.member()
    const five = Array.from({ length: 5 }, () => follow(visitor, room))
    await Promise.all(five.map(snapshotOf))
    expect(
      await world.sql('SELECT FROM rooms.room_participants WHERE room_id = $1 AND user_id = $2', [
        room.uuid,
        visitor.userId,
      ]),
    ).toHaveLength(1)
    expect(
      await world.sql(`SELECT FROM rooms.room_events WHERE room_id = $1 AND type = 'ParticipantJoined'`, [room.uuid]),
    ).toHaveLength(1)
  })
})
