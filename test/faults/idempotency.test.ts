import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { type KeyedAnswer, newKey, STORY_ADD, sendKeyed } from '../support/keyed.ts'
import { actorAt, type ServerProcess, startProcess } from '../support/server-process.ts'
import { createWorld, type World } from '../support/world.ts'

let database: TestDatabase
let world: World
let [one, two]: ServerProcess[] = []
let room: TestRoom
let host: Actor

/** A run stops in front of this lock when it marks a field as committed, or when it keeps its answer. */
const AT = { mark: 7_001, answer: 7_002 }

beforeAll(async () => {
  database = await createDatabase()
  one = await startProcess(database)
  two = await startProcess(database)
  world = await createWorld(one)
  ;({ room, host } = await world.pokerRoom())
  await world.sql(`
    CREATE FUNCTION platform.test_stop() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.state = 'done' THEN PERFORM pg_advisory_xact_lock_shared(${AT.answer});
      ELSIF NEW.committed_fields <> OLD.committed_fields THEN PERFORM pg_advisory_xact_lock_shared(${AT.mark}); END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER test_stop BEFORE UPDATE ON platform.idempotency_keys FOR EACH ROW EXECUTE FUNCTION platform.test_stop()`)
}, 120_000)
afterAll(async () => {
  await world.close()
  await two!.close()
  await database.drop()
})

const input = (title: string) => ({ input: { roomId: room.id, title } })
const addAt = (server: ServerProcess, key: string, title: string, document = STORY_ADD) =>
  sendKeyed(actorAt(server, host).client, key, document, input(title))
const stories = async (title: string) =>
  Number((await world.sql('SELECT count(*) FROM rooms.stories WHERE title = $1', [title]))[0]!.count)
const rowOf = async (key: string) =>
  (await world.sql('SELECT * FROM platform.idempotency_keys WHERE key = $1', [key]))[0]!
const endLease = (key: string) =>
  world.sql(`UPDATE platform.idempotency_keys SET locked_until = now() - interval '1 s' WHERE key = $1`, [key])
const outcome = ({ status, body }: KeyedAnswer) => [status, body.errors?.[0]?.extensions.code]
const blockedAt = (lock: number) =>
  vi.waitUntil(
    async () =>
      (await world.sql(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted`, [lock]))
        .length > 0,
    { timeout: 10_000, interval: 10 },
  )

/** A process killed, as by kill -9, when its run has come to that place. */
async function killedAt(lock: number, key: string, title: string, document?: string): Promise<void> {
  const server = await startProcess(database)
  const stop = await world.hold('SELECT pg_advisory_xact_lock($1)', [lock])
  const running = addAt(server, key, title, document).catch(() => undefined)
  try {
    await blockedAt(lock)
  } finally {
    await server.kill()
    await stop.release()
  }
  expect(await running).toBeUndefined()
  // The database notices that the client is gone when the statement has ended.
  await vi.waitUntil(
    async () =>
      (await world.sql(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = $1`, [lock])).length === 0,
    { timeout: 10_000, interval: 10 },
  )
}

describe('one key on two server processes', () => {
  it('PLAT-52 runs once of 50 calls at the same time, and gives 50 equal answers', async () => {
    for (let round = 0; round < 3; round++) {
      const key = newKey()
      const title = `crowd ${round}`
      const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => addAt(at % 2 ? one! : two!, key, title)))
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
      expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
      const bodies = answers.map(({ body: { data, errors, extensions } }) => {
        const { replayed: _, ...kept } = extensions!
        return JSON.stringify({ data, errors, extensions: kept })
      })
      expect(new Set(bodies).size).toBe(1)
      expect(answers.every(({ replayed, body }) => (body.extensions!.replayed ?? false) === replayed)).toBe(true)
      expect(await stories(title)).toBe(1)
    }
  })

  it('PLAT-50 runs one of two different requests at the same time and refuses the other', async () => {
    for (let round = 0; round < 10; round++) {
      const key = newKey()
      const titles = [`this ${round}`, `that ${round}`]
      const answers = await Promise.all(titles.map((title, at) => addAt(at ? one! : two!, key, title)))
      expect(answers.map(outcome).sort()).toEqual([
        [200, undefined],
        [409, 'IDEMPOTENCY_KEY_REUSED'],
      ])
      expect((await stories(titles[0]!)) + (await stories(titles[1]!))).toBe(1)
    }
  })

  it('PLAT-52 lets the second wait for the first, and says when that takes too long', async () => {
    const key = newKey()
    const stop = await world.hold('SELECT pg_advisory_xact_lock($1)', [AT.mark])
    const first = addAt(one!, key, 'slow')
    await blockedAt(AT.mark)
    const second = addAt(two!, key, 'slow')
    await stop.release()
    expect([(await first).replayed, (await second).replayed]).toEqual([false, true])
    expect(await stories('slow')).toBe(1)

    const held = newKey()
    await world.sql(
      `INSERT INTO platform.idempotency_keys SELECT org_id, actor_id, $2, fingerprint, 'running', locked_by, now() + interval '1 hour',
         '{}', NULL, NULL, NULL, now(), expires_at FROM platform.idempotency_keys WHERE key = $1`,
      [key, held],
    )
    const refused = await addAt(two!, held, 'slow')
    expect([...outcome(refused), refused.retryAfter]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS', '1'])
    expect(await stories('slow')).toBe(1)
  })

  it('PLAT-52 waits without a database connection', async () => {
    const narrow = await startProcess(database, { MOOTHALL_DATABASE_POOL: '1' })
    const key = newKey()
    await addAt(one!, key, 'narrow')
    await world.sql(
      `UPDATE platform.idempotency_keys SET state = 'running', locked_until = now() + interval '1 hour',
         status_code = NULL, response_envelope = NULL, response_headers = NULL WHERE key = $1`,
      [key],
    )
    try {
      const waiting = Array.from({ length: 20 }, () => addAt(narrow, key, 'narrow'))
      const asked = await actorAt(narrow, host).send(`{ room(id: "${room.id}") { id } }`)
      expect(asked.errors).toBeUndefined()
      for (const answer of await Promise.all(waiting)) expect(outcome(answer)).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS'])
    } finally {
      await narrow.close()
    }
  })
})

describe('a process killed under a key', () => {
  it('PLAT-52 before anything was committed: the next runs anew when the lease is over', async () => {
    const key = newKey()
    await killedAt(AT.mark, key, 'killed early')
    expect(await stories('killed early')).toBe(0)
    expect(await rowOf(key)).toMatchObject({ state: 'running', committed_fields: [] })

    await endLease(key)
    const answer = await addAt(one!, key, 'killed early')
    expect([...outcome(answer), answer.replayed]).toEqual([200, undefined, false])
    expect(await stories('killed early')).toBe(1)
  })

  it('PLAT-52 after the commit: the answer is lost, the fields are named, and nothing takes effect again', async () => {
    const key = newKey()
    await killedAt(AT.answer, key, 'killed late')
    expect(await stories('killed late')).toBe(1)
    expect(await rowOf(key)).toMatchObject({ state: 'running', committed_fields: ['storyAdd'] })

    await endLease(key)
    const answers = await Promise.all([one!, two!, one!, two!].map((server) => addAt(server, key, 'killed late')))
    for (const answer of answers) {
      expect(outcome(answer)).toEqual([409, 'IDEMPOTENCY_RESULT_LOST'])
      expect(answer.body.errors![0]!.extensions).toMatchObject({ committedFields: ['storyAdd'] })
    }
    expect(await stories('killed late')).toBe(1)
  })

  it('PLAT-52 between two of its fields: the one that committed is named, and none runs', async () => {
    const key = newKey()
    const document = `mutation ($input: StoryAddInput!) {
      renamed: roomRename(input: { roomId: "${room.id}", title: "half done" }) { __typename }
      added: storyAdd(input: $input) { __typename } }`
    // The first mark passes; the second stops, for by then the lock is taken.
    await world.sql(`
      CREATE OR REPLACE FUNCTION platform.test_stop() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF cardinality(NEW.committed_fields) = 2 THEN PERFORM pg_advisory_xact_lock_shared(${AT.mark}); END IF;
        RETURN NEW;
      END $$`)
    await killedAt(AT.mark, key, 'half', document)
    await endLease(key)
    const answer = await addAt(two!, key, 'half', document)
    expect(outcome(answer)).toEqual([409, 'IDEMPOTENCY_RESULT_LOST'])
    expect(answer.body.errors![0]!.extensions).toMatchObject({ committedFields: ['renamed'] })
    expect(await stories('half')).toBe(0)
  })

  it('PLAT-51 keeps a run whose key went to another from taking effect beside it', async () => {
    await world.sql(`
      CREATE OR REPLACE FUNCTION platform.test_stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$`)
    const key = newKey()
    // It stops before its story, which is before its mark.
    const stop = await world.hold('LOCK TABLE rooms.stories IN SHARE MODE')
    const slow = addAt(one!, key, 'overtaken')
    await world.untilBlocked()
    await endLease(key)
    await world.sql(
      `UPDATE platform.idempotency_keys SET locked_by = platform.new_id(), locked_until = now() + interval '1 hour' WHERE key = $1`,
      [key],
    )
    await stop.release()
    expect((await slow).body.errors![0]!.extensions.code).toBe('IDEMPOTENCY_IN_PROGRESS')
    expect(await stories('overtaken')).toBe(0)
  })
})
