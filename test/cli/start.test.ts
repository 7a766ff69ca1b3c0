import { spawn } from 'node:child_process'
import { chown, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { MAIN, type ServerProcess, type Started, startProcess } from '../support/app-process.ts'
import { GraphqlClient } from '../support/client.ts'
import { killServer } from '../support/cluster.ts'
import { moothall } from '../support/command.ts'
import { SIGN_IN, SIGN_IN_ANONYMOUSLY } from '../support/documents.ts'

// Each test starts databases and processes of its own.
vi.setConfig({ testTimeout: 180_000 })

const NOBODY = { uid: 65_534, gid: 65_534 }

let dataDir: string
let env: Record<string, string>
let running: ServerProcess[]
beforeEach(async () => {
  // Named as the test clusters are, so that a later run clears up after one that was killed.
  dataDir = await mkdtemp(join(tmpdir(), `moothall-test-${process.pid}-`))
  env = { PORT: '0', MOOTHALL_DATA_DIR: dataDir, MOOTHALL_DRAIN_DELAY: '0s' }
  running = []
})
afterEach(async () => {
  for (const server of running) {
    server.signal('SIGKILL')
    await server.exited()
  }
  await killServer(dataDir)
  await rm(dataDir, { recursive: true })
})

async function start(as: { uid?: number; gid?: number } = {}): Promise<ServerProcess> {
  const server = await startProcess(env, as)
  running.push(server)
  return server
}

async function signsIn(
  { endpoint }: Started,
  { email, password }: { email: string; password: string },
): Promise<boolean> {
  const { sessionCreateWithPassword: answer } = await new GraphqlClient(endpoint).run(SIGN_IN, {
    input: { email, password, delivery: 'BEARER' },
  })
  return answer?.__typename === 'SessionCreateWithPasswordPayload'
}

async function signsInByLink({ endpoint }: Started, link: string): Promise<boolean> {
  const { sessionCreateWithToken: answer } = await new GraphqlClient(endpoint).run(
    `mutation ($input: SessionCreateWithTokenInput!) { sessionCreateWithToken(input: $input) { __typename } }`,
    { input: { token: link.split('#token=')[1], delivery: 'BEARER' } },
  )
  return answer.__typename === 'SessionCreateWithTokenPayload'
}

it('PLAT-80 makes org main with an owner at the first start, and shows the password that once', async () => {
  const first = await start()
  const owner = first.started.firstOwner!

  expect(owner).toMatchObject({ org: 'main', email: 'owner@moothall.localhost' })
  expect(await signsIn(first.started, owner)).toBe(true)
  expect(owner.signInLink).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/sign-in#token=mh_link_[\w-]{43}$/)
  const byLink = () => signsInByLink(first.started, owner.signInLink!)
  expect(await byLink()).toBe(true)
  expect(await byLink()).toBe(false)
  const { sessionCreateAnonymous: anonymous } = await new GraphqlClient(first.started.endpoint).run(
    SIGN_IN_ANONYMOUSLY,
    { input: { orgSlug: 'main', displayName: 'Ada', delivery: 'BEARER' } },
  )
  expect(anonymous?.__typename).toBe('SessionCreateAnonymousPayload')
  expect((await stat(join(dataDir, 'secrets.json'))).mode & 0o777).toBe(0o600)

  first.signal('SIGTERM')
  expect(await first.exited()).toEqual({ code: 0, signal: null })
  const second = await start()
  expect(second.started).not.toHaveProperty('firstOwner')
  expect(await signsIn(second.started, owner)).toBe(true)
  expect(first.output().split(owner.password)).toHaveLength(2)
  expect(second.output()).not.toContain(owner.password)
})

it('PLAT-57 starts again after kill -9 on the database server that still runs', async () => {
  const first = await start()
  const owner = first.started.firstOwner!
  first.signal('SIGKILL')
  await first.exited()

  const second = await start()

  expect(await signsIn(second.started, owner)).toBe(true)
  expect(second.started).not.toHaveProperty('firstOwner')
})

it('PLAT-80 makes one first org when two processes start at once, and the command line works beside them', async () => {
  const both = await Promise.all([start(), start()])

  expect(both.filter(({ started }) => started.firstOwner)).toHaveLength(1)
  const status = await moothall(['migrate', '--status'], env)
  expect(status).toMatchObject({ code: 0, stdout: 'Nothing is pending.\n' })
})

it.runIf(process.getuid?.() === 0)(
  'PLAT-57 starts as an ordinary user too',
  async () => {
    await chown(dataDir, NOBODY.uid, NOBODY.gid)

    const server = await start(NOBODY)

    expect(await signsIn(server.started, server.started.firstOwner!)).toBe(true)
    expect((await stat(join(dataDir, 'postgres'))).uid).toBe(NOBODY.uid)
    server.signal('SIGTERM')
    expect(await server.exited()).toEqual({ code: 0, signal: null })
  },
  60_000,
)

it('says in words a person reads where it serves, and how to sign in', async () => {
  const child = spawn(process.execPath, [MAIN, 'start'], { env: { PATH: process.env['PATH'], ...env } })
  let words = ''
  for await (const text of child.stdout) {
    words += text
    if (words.includes('not shown again')) child.kill('SIGTERM')
  }

  expect(words).toMatch(/Moothall serves http:\/\/127\.0\.0\.1:\d+\/graphql\n {2}Open it in a browser for GraphiQL\./)
  expect(words).toMatch(
    /email {5}owner@moothall\.localhost\n {4}password {2}\S{20}\n {4}or once {3}http:\S+\/sign-in#token=\S+\n/,
  )
})
