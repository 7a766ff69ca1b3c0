import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createReadiness } from '../../src/transport/health.ts'
import { type App, startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let app: App
let world: World
beforeAll(async () => {
  app = await startApp()
  world = await createWorld(app)
})
afterAll(() => world.close())

const ready = async () => {
  const answer = await fetch(`${app.url}/readyz`)
  return { status: answer.status, body: await answer.json() }
}
const expectReady = (status: number, body: object) =>
  vi.waitFor(async () => expect(await ready()).toEqual({ status, body }), { timeout: 20_000, interval: 100 })

describe('a running server', () => {
  it('PLAT-73 is alive and ready, and says so to anybody', async () => {
    const alive = await fetch(`${app.url}/healthz`)

    expect(alive.status).toBe(200)
    expect(await alive.json()).toEqual({ status: 'ok' })
    await expectReady(200, { status: 'ready' })
  })

  it('PLAT-73 is not ready on a schema that a newer release has migrated', async () => {
    await world.sql(
      `INSERT INTO platform._prisma_migrations (id, checksum, migration_name, finished_at)
       VALUES ('later', repeat('0', 64), '9999_later', now())`,
    )
    await expectReady(503, { status: 'unready', failing: ['migrations'] })

    await world.sql(`DELETE FROM platform._prisma_migrations WHERE id = 'later'`)
    await expectReady(200, { status: 'ready' })
  })

  it('PLAT-73 is alive without its database, and not ready', async () => {
    const { name, superuserUrl } = app.database
    const superuser = new pg.Client({ connectionString: superuserUrl })
    await superuser.connect()
    await superuser.query(`ALTER DATABASE ${name} CONNECTION LIMIT 0`)
    await superuser.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'moothall_app' AND datname = '${name}'`,
    )
    await expectReady(503, { status: 'unready', failing: ['database', 'migrations'] })
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200)
    // PLAT-28: the listener is given ten seconds to come back.
    await expectReady(503, { status: 'unready', failing: ['database', 'migrations', 'listener'] })

    await superuser.query(`ALTER DATABASE ${name} CONNECTION LIMIT -1`)
    await superuser.end()
    await expectReady(200, { status: 'ready' })
  }, 60_000)
})

describe('readiness', () => {
  it('PLAT-73 names every failing check, one that throws and one that hangs included', async () => {
    const readiness = createReadiness({
      fine: () => true,
      wrong: () => false,
      broken: () => Promise.reject(new Error('secret words')),
      hanging: () => new Promise(() => {}),
    })

    expect(await readiness.failing()).toEqual(['wrong', 'broken', 'hanging'])
  })

  it('asks once for many who ask at once, so that probes are no burden', async () => {
    let asked = 0
    const readiness = createReadiness({ counted: () => ++asked > 0 })

    await Promise.all(Array.from({ length: 100 }, () => readiness.failing()))

    expect(asked).toBe(1)
  })
})
