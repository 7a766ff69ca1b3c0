import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { metricOf } from '../support/metrics.ts'
import { knowsPreparedStatements, pgbouncerVersion, startPgbouncer, type TestPgbouncer } from '../support/pgbouncer.ts'
import { type Frame, openRoomStream } from '../support/room-stream.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { createWorld, type World } from '../support/world.ts'

const PREPARED = [
  { prepared: 'false', can: true },
  { prepared: 'true', can: pgbouncerVersion !== null && knowsPreparedStatements(pgbouncerVersion) },
]

describe.skipIf(pgbouncerVersion === null)('behind PgBouncer in transaction mode', () => {
  let database: TestDatabase
  let pooler: TestPgbouncer
  let world: World | undefined

  beforeAll(async () => {
    database = await createDatabase()
    pooler = await startPgbouncer(database)
  })
  afterEach(async () => {
    await world?.close()
    world = undefined
  })
  afterAll(async () => {
    await pooler?.remove()
    await database?.drop()
  })

  const start = (prepared: string, more: Record<string, string> = {}) =>
    startProcess(database, {
      DATABASE_URL: pooler.url,
      DATABASE_LISTEN_URL: database.appUrl,
      MOOTHALL_DATABASE_PREPARED: prepared,
      ...more,
    })

  for (const { prepared, can } of PREPARED) {
    describe.skipIf(!can)(`with prepared statements ${prepared === 'true' ? 'on' : 'off'}`, () => {
      it('DESIGN §2 serves many at once over few connections and mixes up neither tenants nor people', async () => {
        const server = await start(prepared)
        world = await createWorld(server)
        const other = await createWorld(server)
        const tables = await Promise.all([1, 2, 3].map(() => world!.pokerRoom({ voters: 4 })))
        const stream = openRoomStream({
          url: `${server.url}/graphql`,
          token: tables[0]!.host.client.token!,
          variables: { roomId: tables[0]!.room.id },
        })
        await stream.next(({ __typename }: Frame) => __typename === 'RoomSnapshot', 'the snapshot')
        const answers = await Promise.all(
          tables.flatMap(({ room, voters }) =>
            voters.flatMap((voter) => [
              voter.vote(room, '5').then((outcome) => outcome.__typename),
              voter.run('{ viewer { user { id } } }').then(({ viewer }) => viewer.user.id === voter.id),
              other.owner.room(room).then((seen) => seen === null), // of another org
            ]),
          ),
        )
        expect(new Set(answers)).toEqual(new Set(['VoteCastPayload', true]))
        for (const { room, voters } of tables) {
          const seen = await world.sql<{ count: number }>(
            'SELECT count(DISTINCT user_id)::int AS count FROM rooms.votes WHERE room_id = $1',
            [room.uuid],
          )
          expect(seen).toEqual([{ count: voters.length }])
        }
        for (const voter of tables[0]!.voters) await stream.next(({ userId }: Frame) => userId === voter.id, 'the vote')
        stream.close()
        expect(await metricOf(server.url, 'moothall_row_security_refused_total')).toBe(0)
        await other.close()
      })
    })
  }

  it('PLAT-28 hears notifications over DATABASE_LISTEN_URL, and is never ready where LISTEN goes through the pooler', async () => {
    const through = await start('false', { DATABASE_LISTEN_URL: pooler.url })
    const beside = await start('false')
    const failing = async ({ url }: ServerProcess) => (await (await fetch(`${url}/readyz`)).json()).failing
    await vi.waitFor(async () => expect(await failing(beside)).toBeUndefined(), { timeout: 15_000 })
    expect(await metricOf(beside.url, 'moothall_listener_confirmed')).toBe(1)
    await vi.waitFor(async () => expect(await failing(through)).toEqual(['listener']), { timeout: 15_000 })
    expect(through.log()).toContain('LISTEN goes through a transaction pooler: set DATABASE_LISTEN_URL')
    await through.close()
    await beside.close()
  })

  it('PLAT-28 listens through a pooler that gives each client a session of its own', async () => {
    const sessions = await startPgbouncer(database, 'session')
    const server = await start('true', { DATABASE_URL: sessions.url, DATABASE_LISTEN_URL: sessions.url })
    await vi.waitFor(async () => expect((await fetch(`${server.url}/readyz`)).status).toBe(200), { timeout: 15_000 })
    await server.close()
    await sessions.remove()
  })

  it('PLAT-7 leaves no setting, transaction or tenant on a connection of the pooler', async () => {
    const server = await start('false')
    world = await createWorld(server)
    const { room, voters } = await world.pokerRoom({ voters: 3 })
    await Promise.all(voters.map((voter) => voter.vote(room, '3')))
    const client = new pg.Client({ connectionString: pooler.url })
    await client.connect()
    for (let round = 0; round < 20; round++) {
      const { rows } = await client.query(
        `SELECT coalesce(current_setting('moothall.org_id', true), '') || coalesce(current_setting('moothall.user_id', true), '')
           || coalesce(current_setting('moothall.hints', true), '') AS left_over, (SELECT count(*)::int FROM identity.orgs) AS orgs`,
      )
      expect(rows).toEqual([{ left_over: '', orgs: 0 }])
    }
    await client.end()
  })
})
