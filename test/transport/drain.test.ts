import { once } from 'node:events'
import { connect } from 'node:net'
import pg from 'pg'
import { afterEach, expect, it, vi } from 'vitest'
import WebSocket from 'ws'
import { type AppProcess, startAppProcess } from '../support/app-process.ts'
import { createWorld, type World } from '../support/world.ts'

// Each test starts a process of its own.
vi.setConfig({ testTimeout: 60_000 })

const SLOW = '{ auditEvents { edges { node { id } } } }'

let app: AppProcess
let world: World
let owner: pg.Client

async function start(env: Record<string, string> = {}) {
  app = await startAppProcess(env)
  world = await createWorld(app)
  owner = new pg.Client({ connectionString: app.database.superuserUrl })
  owner.on('error', () => {}) // the database is dropped under it
  await owner.connect()
}
afterEach(async () => {
  await owner.end()
  await world.close()
})

/** Until it is released, whoever reads events waits. */
const hold = () => owner.query('BEGIN; LOCK TABLE platform.audit_events IN ACCESS EXCLUSIVE MODE')
const release = () => owner.query('ROLLBACK')

async function until(holds: () => Promise<boolean>) {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10))
}

/** How many statements of the server wait for the lock. */
const waiting = async () => {
  const { rows } = await owner.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND relation = 'platform.audit_events'::regclass
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  )
  return rows[0]!.n
}

const ready = async () => (await fetch(`${app.url}/readyz`).catch(() => undefined))?.status
const refuses = () =>
  fetch(app.url).then(
    () => false,
    () => true,
  )

it('PLAT-74 answers what runs, refuses new connections, and exits with 0', async () => {
  await start()
  await hold()
  const running = Array.from({ length: 8 }, () => world.owner.client.post(SLOW))
  await until(async () => (await waiting()) === 8)

  app.process.signal('SIGTERM')
  await until(refuses)
  await release()

  const answers = await Promise.all(running)
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
  for (const answer of answers) expect(await answer.json()).not.toHaveProperty('errors')
  expect(await app.process.exited()).toEqual({ code: 0, signal: null })
})

it('PLAT-74 is unready at once and goes on serving for the delay', async () => {
  await start({ MOOTHALL_DRAIN_DELAY: '60s' })
  expect(await ready()).toBe(200)

  app.process.signal('SIGTERM')
  await until(async () => (await ready()) === 503)

  const probe = await fetch(`${app.url}/readyz`)
  expect(await probe.json()).toEqual({ status: 'unready', failing: ['draining'] })
  expect((await world.owner.client.post('{ viewer { user { id } } }')).status).toBe(200)
  expect((await fetch(`${app.url}/healthz`)).status).toBe(200)
})

it('PLAT-74 refuses a new operation on a connection that was open already', async () => {
  await start()
  await hold()
  const running = world.owner.client.post(SLOW)
  await until(async () => (await waiting()) === 1)
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  const body = JSON.stringify({ query: '{ __typename }' })
  socket.write(`POST /graphql HTTP/1.1\r\nHost: moothall\r\nContent-Type: application/json\r\n`)
  await once(socket, 'connect')
  // Answered only when the bytes before it have arrived too.
  expect((await fetch(`${app.url}/healthz`)).status).toBe(200)

  app.process.signal('SIGTERM')
  await until(refuses)
  socket.write(`Content-Length: ${body.length}\r\n\r\n${body}`)
  let answer = ''
  for await (const text of socket) answer += text

  expect(answer).toMatch(/^HTTP\/1.1 503 /)
  expect(answer).toContain('"code":"SHUTTING_DOWN"')
  expect(answer).toMatch(/\nconnection: close/i)
  await release()
  expect((await running).status).toBe(200)
})

it('PLAT-74 completes event streams and closes sockets with 1012', async () => {
  await start()
  const headers = { ...bearer(), accept: 'text/event-stream', 'content-type': 'application/json' }
  const body = JSON.stringify({ query: 'subscription { auditFeed { cursor } }' })
  const stream = await fetch(`${app.url}/graphql`, { method: 'POST', headers, body })
  const socket = new WebSocket(app.url.replace('http', 'ws').concat('/graphql'), 'graphql-transport-ws')
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: bearer().authorization } }))
  await once(socket, 'message')
  const closed = once(socket, 'close')

  app.process.signal('SIGTERM')

  expect(await stream.text()).toMatch(/event: complete\ndata:\s*$/)
  expect((await closed)[0]).toBe(1012)
  expect(await app.process.exited()).toEqual({ code: 0, signal: null })
})

it('PLAT-74 cuts off what still runs after the timeout', async () => {
  await start({ MOOTHALL_DRAIN_TIMEOUT: '300ms' })
  await hold()
  const running = world.owner.client.post(SLOW).then(
    () => 'answered',
    () => 'cut off',
  )
  await until(async () => (await waiting()) === 1)

  app.process.signal('SIGTERM')

  expect(await running).toBe('cut off')
  await release()
  expect(await app.process.exited()).toEqual({ code: 0, signal: null })
})

it('PLAT-74 exits with 1 at the second signal', async () => {
  await start({ MOOTHALL_DRAIN_DELAY: '60s' })

  app.process.signal('SIGTERM')
  await until(async () => (await ready()) === 503)
  app.process.signal('SIGINT')

  expect(await app.process.exited()).toEqual({ code: 1, signal: null })
})

const bearer = () => ({ authorization: `Bearer ${world.owner.client.token}` })
