import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Outcome } from '../support/actor.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { actorAt, startProcess } from '../support/server-process.ts'
import { createWorld, type World } from '../support/world.ts'

let database: TestDatabase
let world: World

beforeAll(async () => {
  database = await createDatabase()
  world = await createWorld(await startProcess(database))
}, 120_000)
afterAll(async () => {
  await world.close()
  await database.drop()
})

const RUNS = 20
const MUTATIONS = 200

it(`PLAT-11 keeps every acknowledged mutation and no half of one, killed in the middle of ${MUTATIONS}, ${RUNS} times`, async () => {
  let acknowledged = 0
  let lost = 0
  for (let run = 0; run < RUNS; run++) {
    const { room } = await world.pokerRoom({ stories: 0 })
    const server = await startProcess(database)
    const people = await Promise.all(Array.from({ length: 10 }, () => world.member()))
    const titles: string[] = []
    let answered = 0
    const killAt = 40 + run * 5
    const add = async (at: number): Promise<void> => {
      const title = `story ${at}`
      const outcome: Outcome | undefined = await actorAt(server, people[at % people.length]!)
        .mutate('storyAdd', { roomId: room.id, title })
        .catch(() => undefined)
      answered++
      if (answered === killAt) void server.kill()
      if (outcome?.__typename === 'StoryAddPayload') titles.push(title)
      else lost++
    }
    // Ten at a time, so that the kill falls among some that run.
    const queue = Array.from({ length: MUTATIONS }, (_, at) => at)
    await Promise.all(
      people.map(async () => {
        for (let at = queue.shift(); at !== undefined; at = queue.shift()) await add(at)
      }),
    )
    await server.kill()
    acknowledged += titles.length

    const [state] = await world.sql<{ titles: string[]; version: string; events: string; facts: string }>(
      `SELECT (SELECT array_agg(title) FROM rooms.stories WHERE room_id = r.id) AS titles, r.version,
         (SELECT count(*) FROM rooms.room_events WHERE room_id = r.id AND type = 'StoryAdded') AS events,
         (SELECT count(*) FROM platform.audit_events WHERE room_id = r.id AND event_type = 'story.added') AS facts
       FROM rooms.rooms AS r WHERE id = $1`,
      [room.uuid],
    )
    const kept = state!.titles ?? []
    expect(titles.filter((title) => !kept.includes(title))).toEqual([])
    // One story, one version, one live event, one fact: or none of the four.
    expect([Number(state!.version) - 1, Number(state!.events), Number(state!.facts)]).toEqual([
      kept.length,
      kept.length,
      kept.length,
    ])
    expect(new Set(kept).size).toBe(kept.length)
  }
  expect(acknowledged).toBeGreaterThan(RUNS * 30)
  expect(lost).toBeGreaterThan(0)
}, 900_000)
