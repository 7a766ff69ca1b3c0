import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { openRoomStream, type Stream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
const open: Stream[] = []
beforeAll(async () => {
  const app = await startApp()
  world = await createWorld(app)
  await world.sql(`ALTER DATABASE ${app.database.name} SET TimeZone TO 'America/St_Johns'`)
})
afterAll(async () => {
  for (const stream of open) stream.close()
  await world.close()
})

const HOUR = 3_600_000
const QUERY = `subscription ($roomId: ID!, $sinceVersion: BigInt) { roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) {
  __typename version
  ... on RoomSnapshot { serverNow room { timer { startedAt endsAt onEnd } } }
  ... on TimerChanged { serverNow startedAt endsAt onEnd }
} }`

it.each([
  ['an hour slow', -HOUR],
  ['right', 0],
  ['an hour fast', HOUR],
])('ROOM-80 ends timers for a client whose clock is %s within a second of the server', async (_how, skew) => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  const client = clock(skew)
  const stream = client.follow(voters[0]!.client.token!, { roomId: room.id })
  await stream.next(({ __typename }) => __typename === 'RoomSnapshot')

  await host.mutate('roomTimerStart', { roomId: room.id, seconds: 60 })
  const started = await client.deadline(stream, 'TimerChanged', 0)
  expect(Math.abs(started - (await endsIn(room.uuid)))).toBeLessThan(1_000)

  await host.mutate('roomTimerExtend', { roomId: room.id, seconds: 30 })
  const extended = await client.deadline(stream, 'TimerChanged', 1)
  expect(Math.abs(extended - (await endsIn(room.uuid)))).toBeLessThan(1_000)
  expect(extended - started).toBeGreaterThan(29_000)

  // Who joins in the middle reckons by the snapshot.
  const late = client.follow(voters[0]!.client.token!, { roomId: room.id })
  const joined = await client.deadline(late, 'RoomSnapshot', 0)
  expect(Math.abs(joined - (await endsIn(room.uuid)))).toBeLessThan(1_000)
})

/** A frontend's reckoning by a clock that is wrong by so much: it shows what is left, and never compares instants. */
function clock(skew: number) {
  const now = () => Date.now() + skew
  const arrivals = new Map<object, number>()
  return {
    follow(token: string, variables: Record<string, unknown>): Stream {
      const stream = openRoomStream({ url: `${world.app.url}/graphql`, token, query: QUERY, variables })
      open.push(stream)
      const push = stream.events.push.bind(stream.events)
      stream.events.push = (...events) => {
        for (const event of events) arrivals.set(event, now())
        return push(...events)
      }
      return stream
    },
    /** Milliseconds from now until its bell rings, by the one of these events. */
    async deadline(stream: Stream, type: string, which: number): Promise<number> {
      const ofType = () => stream.events.filter(({ __typename }) => __typename === type)
      await stream.next(() => ofType().length > which)
      const event = ofType()[which]
      const { endsAt } = event.room?.timer ?? event
      const offset = Date.parse(event.serverNow) - arrivals.get(event)!
      return Date.parse(endsAt) - (now() + offset)
    },
  }
}

/** The same by the clock that decides. */
async function endsIn(roomId: string): Promise<number> {
  const [row] = await world.sql<{ ms: number }>(
    'SELECT extract(epoch FROM timer_ends_at - clock_timestamp())::float8 * 1000 AS ms FROM rooms.rooms WHERE id = $1',
    [roomId],
  )
  return row!.ms
}
