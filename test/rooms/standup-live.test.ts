import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { type Frame, openRoomStream, type Stream } from '../support/room-stream.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import {
  arrange,
  attach,
  comment,
  gather,
  pass,
  put,
  react,
  ready,
  STANDUP,
  seen,
  skip,
  standup,
  start,
} from './standup-circle.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const ENTRY = `userId yesterday today blockers skipped ready answered spokenAt
  comments { id text author { id } } reactions { emoji count mine }`
const EVENTS = `subscription ($roomId: ID!, $sinceVersion: BigInt) { roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) {
  __typename version
  ... on RoomSnapshot { room { ${STANDUP} } }
  ... on RoomPhaseChanged { phase endedAt }
  ... on TimerChanged { startedAt endsAt }
  ... on EntryChanged { entry { ${ENTRY} } }
  ... on EntryReadyChanged { userId ready }
  ... on SpeakingStarted { order { userId spoken skipped } }
  ... on OrderChanged { order { userId spoken skipped } }
  ... on SpeakerChanged { speakerId previousId spokenAt startedAt endsAt serverNow reason }
  ... on EntryCommentAdded { entryUserId comment { id text author { id } } }
  ... on EntryCommentRemoved { entryUserId commentId }
  ... on EntryReactionsChanged { entryUserId reactions { emoji count mine } }
} }`

const follow = (viewer: Actor, room: TestRoom, sinceVersion?: string): Stream =>
  openRoomStream({
    url: `${world.app.url}/graphql`,
    token: viewer.client.token!,
    variables: { roomId: room.id, ...(sinceVersion && { sinceVersion }) },
    query: EVENTS,
  })

type Entry = {
  userId: string
  yesterday: string
  today: string
  blockers: string
  skipped: boolean
  ready: boolean
  answered: boolean
  spokenAt: string | null
  comments: { id: string }[]
  reactions: object[]
}
type Turn = { userId: string; spoken: boolean; skipped: boolean }
type State = {
  phase: string
  endedAt: string | null
  timer: { startedAt: string; endsAt: string } | null
  speaker: string | null
  startedAt: string | null
  order: Turn[]
  entries: Entry[]
}

// biome-ignore lint/suspicious/noExplicitAny: a room as a query or a snapshot has it
const stateOf = ({ phase, endedAt, timer, standup }: any): State => ({
  phase,
  endedAt,
  timer: timer && { startedAt: timer.startedAt, endsAt: timer.endsAt },
  speaker: standup.currentSpeakerId,
  startedAt: standup.speakerStartedAt,
  order: standup.order,
  entries: standup.entries.map(({ user, ...entry }: Entry & { user: unknown }) => entry),
})

const blank = (userId: string): Entry => ({
  ...{ userId, yesterday: '', today: '', blockers: '', skipped: false, ready: false, answered: false, spokenAt: null },
  ...{ comments: [], reactions: [] },
})

/** What a client makes of an event that knows no more than what came before it. */
function applied(state: State, event: Frame): State {
  const changed = (userId: string, change: (entry: Entry) => Partial<Entry>, from = state): State => {
    const known = from.entries.find((entry) => entry.userId === userId) ?? blank(userId)
    const others = from.entries.filter((entry) => entry.userId !== userId)
    return { ...from, entries: [...others, { ...known, ...change(known) }] }
  }
  const inOrder = (order: Turn[]): State =>
    order.reduce((next, { userId, skipped }) => changed(userId, () => ({ skipped }), next), { ...state, order })
  switch (event.__typename) {
    case 'RoomPhaseChanged': {
      const { phase, endedAt } = event
      const next = { ...state, phase, endedAt, speaker: null, startedAt: null }
      if (phase !== 'gather') return next
      return { ...next, order: [], entries: state.entries.map((entry) => ({ ...entry, spokenAt: null })) }
    }
    case 'TimerChanged':
      return { ...state, timer: event.startedAt && { startedAt: event.startedAt, endsAt: event.endsAt } }
    case 'EntryChanged':
      // What others said to it comes by events of its own.
      return changed(event.entry.userId, ({ comments, reactions }) => ({ ...event.entry, comments, reactions }))
    case 'EntryReadyChanged':
      return changed(event.userId, () => ({ ready: event.ready }))
    case 'SpeakingStarted':
    case 'OrderChanged':
      return inOrder(event.order)
    case 'SpeakerChanged': {
      const { speakerId, previousId, spokenAt, startedAt, endsAt } = event
      const next = { ...state, speaker: speakerId, startedAt, ...(endsAt && { timer: { startedAt, endsAt } }) }
      if (spokenAt === null) return next
      const order = state.order.map((turn) => (turn.userId === previousId ? { ...turn, spoken: true } : turn))
      return changed(previousId, () => ({ spokenAt }), { ...next, order })
    }
    case 'EntryCommentAdded':
      return changed(event.entryUserId, ({ comments }) => ({ comments: [...comments, event.comment] }))
    case 'EntryCommentRemoved':
      return changed(event.entryUserId, ({ comments }) => ({
        comments: comments.filter(({ id }) => id !== event.commentId),
      }))
    case 'EntryReactionsChanged':
      return changed(event.entryUserId, () => ({ reactions: event.reactions }))
    case 'ParticipantJoined':
    case 'ParticipantLeft':
      return state
    default:
      throw new Error(`${event.__typename} was not expected`)
  }
}

const sorted = (state: State): State => ({
  ...state,
  entries: state.entries.toSorted((a, b) => (a.userId < b.userId ? -1 : 1)),
})

it('ROOM-170, ROOM-172 replays of a standup from every version, and snapshots, come to the same state', async () => {
  const { room, host, people } = await standup(world, { people: 3 })
  const [second, leaver, viewer] = people as [Actor, Actor, Actor]
  const guest = await world.guest(room)
  await world.attend(room, guest)
  const steps: (() => Promise<{ code?: string }>)[] = [
    () => put(second, room, { yesterday: 'Slept', today: 'Work' }),
    () => ready(leaver, room),
    () => ready(guest, room),
    () => ready(guest, room, false),
    () => skip(host, room, leaver),
    () => comment(second, room, second, 'Ha'),
    () => react(guest, room, second, '🎉'),
    () => start(host, room, 'SHUFFLED'),
    () => gather(host, room),
    () => start(host, room),
    () => pass(host, room, host),
    async () => put(await world.member(), room, { blockers: 'None' }),
    () => skip(host, room, leaver, false),
    () => host.mutate('roomTimerExtend', { roomId: room.id, seconds: 20 }),
    () => skip(host, room, second),
    () => arrange(host, room, [leaver]),
    () => pass(host, room, viewer),
    () => leaver.mutate('spaceLeave', { id: world.home.id }),
    () => react(viewer, room, second, '🎉'),
    async () => attach(await world.member(), room),
    () => host.mutate('roomEnd', { roomId: room.id }),
    () => react(guest, room, second, '🎉'),
    () => host.mutate('roomReopen', { roomId: room.id }),
  ]
  const stateSeenBy = async (person: Actor) => {
    const shown = await seen(person, room)
    return { version: shown.version as string, state: stateOf(shown) }
  }
  const known = [await stateSeenBy(viewer)]
  const ofGuest = await stateSeenBy(guest)
  for (const [at, step] of steps.entries()) {
    expect((await step()).code, `step ${at}`).toBeUndefined()
    known.push(await stateSeenBy(viewer))
  }

  const { version: last, state: now } = known.at(-1)!
  const starts = known.slice(0, -1).map((from) => ({ ...from, person: viewer, now }))
  starts.push({ ...ofGuest, person: guest, now: (await stateSeenBy(guest)).state })
  for (const { version, state, person, now: end } of starts) {
    const stream = follow(person, room, version)
    await stream.next((event) => event.version === last, `version ${last}`)
    const events = stream.events.filter((event) => event.version !== null)
    stream.close()
    expect(events.map((event) => Number(event.version))).toEqual(
      Array.from({ length: Number(last) - Number(version) }, (_, at) => Number(version) + at + 1),
    )
    // A flag of one's own is as it is when it is sent: the guest took theirs back.
    expect(sorted(events.reduce(applied, state)), `since ${version}`).toEqual(sorted(end))
  }
  const fresh = follow(guest, room)
  const snapshot = await fresh.next((event) => event.__typename === 'RoomSnapshot')
  fresh.close()
  expect(stateOf(snapshot.room)).toEqual((await stateSeenBy(guest)).state)
})

it('ROOM-171, ROOM-175 everybody hears each version as it happens, whether a reaction is theirs too', async () => {
  const { room, host, people } = await standup(world, { people: 1 })
  const guest = await world.guest(room)
  await world.attend(room, guest)
  const viewers = [host, people[0]!, guest]
  const streams = viewers.map((viewer) => follow(viewer, room))
  for (const stream of streams) await stream.next((event) => event.__typename === 'RoomSnapshot')
  await put(host, room, { today: 'Work' })
  await react(guest, room, host, '💡')
  await comment(people[0]!, room, host)
  await start(host, room)
  const { room: passed } = await pass(host, room, host)
  for (const [at, stream] of streams.entries()) {
    const changed = await stream.next(({ reason, previousId }) => reason === 'NEXT' && previousId === host.id)
    expect(changed).toMatchObject({ version: passed.version, speakerId: passed.standup.currentSpeakerId })
    expect(Math.abs(Date.parse(changed.serverNow) - Date.parse(changed.startedAt))).toBeLessThan(30_000)
    const reacted = stream.events.find(({ __typename }) => __typename === 'EntryReactionsChanged')
    expect(reacted).toMatchObject({ entryUserId: host.id, reactions: [{ emoji: '💡', count: 1, mine: at === 2 }] })
    const versions = stream.versions()
    expect(versions).toEqual(versions.map((_, index) => versions[0]! + index))
  }
  for (const stream of streams) stream.close()
})

it('ROOM-34 a standup is deleted with everything in it', async () => {
  const { room, host } = await standup(world)
  await put(host, room, { today: 'Work' })
  const { id } = (await comment(host, room, host))['comment']
  await react(host, room, host)
  await start(host, room)
  expect(await host.mutate('roomDelete', { id: room.id })).toMatchObject({ __typename: 'RoomDeletePayload' })
  for (const table of ['standup_entries', 'standup_entry_comments', 'standup_entry_reactions']) {
    expect(await world.sql(`SELECT FROM rooms.${table} WHERE room_id = $1`, [room.uuid])).toEqual([])
  }
  expect(await world.sql('SELECT FROM rooms.standup_entry_comments WHERE id = $1', [uuidOf(id)])).toEqual([])
})

it('ROOM-34, ROOM-90 a renamed standup tells its own settings', async () => {
  const { room, host } = await standup(world, { speakerSeconds: 30 })
  const stream = openRoomStream({
    url: `${world.app.url}/graphql`,
    token: host.client.token!,
    variables: { roomId: room.id },
    query: `subscription ($roomId: ID!) { roomEvents(roomId: $roomId) { __typename version
      ... on RoomChanged { title config { __typename ... on StandupConfig { async speakerSeconds } } } } }`,
  })
  await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
  await host.mutate('roomRename', { roomId: room.id, title: 'Daily' })
  expect(await stream.next(({ __typename }) => __typename === 'RoomChanged')).toMatchObject({
    title: 'Daily',
    config: { __typename: 'StandupConfig', async: false, speakerSeconds: 30 },
  })
  stream.close()
})
