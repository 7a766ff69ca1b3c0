import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type EmbeddedOptions, type EmbeddedServer, startEmbedded } from '../../src/db/embedded.ts'
import { EmbeddedError } from '../../src/db/embedded-error.ts'
import { killServer, makeDataDir } from '../support/cluster.ts'
import { spawnServerUser } from '../support/embedded-process.ts'

const isRoot = process.getuid?.() === 0
const NOBODY = { uid: 65534, gid: 65534 }

let dataDir: string
let running: EmbeddedServer[]
let logged: string[]

const fresh = async () => {
  dataDir = await makeDataDir()
}
const remove = async () => {
  await killServer(dataDir)
  await rm(dataDir, { recursive: true, force: true })
}

beforeEach(() => {
  running = []
  logged = []
})

afterEach(async () => {
  for (const server of running) await server.stop()
})

describe('the cluster', () => {
  beforeAll(fresh)
  afterAll(remove)

  it('PLAT-57 knows letters beyond ASCII, in comparison and in trigrams, whatever the locale of the system', async () => {
    const server = await start()
    await server.ensureDatabase('moothall')
    await query(server.ownerUrl('moothall'), 'CREATE SCHEMA work; CREATE EXTENSION pg_trgm SCHEMA work')
    expect(
      await query(
        server.ownerUrl('moothall'),
        `SELECT lower('ÄÖ') AS lower, 'ä' ~ '^[[:alpha:]]$' AS letter, work.show_trgm('äß') <> '{}' AS trigrams,
                current_setting('server_encoding') AS encoding, datcollate, datctype, current_setting('TimeZone') AS zone
           FROM pg_database WHERE datname = current_database()`,
      ),
    ).toEqual([
      {
        lower: 'äö',
        letter: true,
        trigrams: true,
        encoding: 'UTF8',
        datcollate: 'C.UTF-8',
        datctype: 'C.UTF-8',
        zone: 'UTC',
      },
    ])
    const others = await query(server.superuserUrl('postgres'), `SELECT DISTINCT datcollate, datctype FROM pg_database`)
    expect(others).toEqual([{ datcollate: 'C.UTF-8', datctype: 'C.UTF-8' }])
  })

  it('PLAT-57 listens on the loopback address alone, asks for a password, and says none', async () => {
    const server = await start()
    const [settings] = await query(
      server.superuserUrl('postgres'),
      `SELECT current_setting('listen_addresses') AS addresses, current_setting('unix_socket_directories') AS sockets`,
    )
    expect(settings).toEqual({ addresses: '127.0.0.1', sockets: '' })
    const open = new URL(server.appUrl('postgres'))
    open.password = 'guess'
    await expect(query(open.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })

    const passwords = [server.superuserUrl('x'), server.ownerUrl('x'), server.appUrl('x')].map(
      (url) => new URL(url).password,
    )
    expect(new Set(passwords).size).toBe(3)
    await server.stop()
    const said = `${await readFile(join(dataDir, 'postgres.log'), 'utf8')}${logged.join('\n')}`
    expect(passwords.filter((password) => said.includes(password))).toEqual([])
  })

  it('PLAT-57 keeps passwords and rows for the account that needs them', async () => {
    const server = await start()
    const mode = async (name: string) => ((await stat(join(dataDir, name))).mode & 0o777).toString(8)
    expect(await mode('database.json')).toBe('600')
    expect(await mode('postgres.log')).toBe('600')
    expect(await mode('postgres')).toBe('700')
    const status = await readFile(`/proc/${server.processId}/status`, 'utf8')
    expect(/^Uid:\t(\d+)\t(\d+)/m.exec(status)?.slice(1)).not.toContain('0')
    expect(/^Groups:\t(.*)$/m.exec(status)?.[1]?.trim().split(' ')).not.toContain(isRoot ? '0' : undefined)
  })
})

describe('starting again', () => {
  beforeAll(fresh)
  afterAll(remove)

  it('PLAT-57 keeps rows, passwords and port over a stop', async () => {
    const first = await start()
    await query(first.superuserUrl('postgres'), 'CREATE TABLE kept AS SELECT 7 AS n')
    await first.stop()
    const second = await start()
    expect(second).toMatchObject({ port: first.port, adopted: false })
    expect(await query(first.superuserUrl('postgres'), 'SELECT n FROM kept')).toEqual([{ n: 7 }])
  })

  it('PLAT-80 adopts the server that a killed process left running', async () => {
    const user = await spawnServerUser(dataDir)
    await user.kill()
    const server = await start()
    expect(server).toMatchObject({ adopted: true, processId: user.started.processId, port: user.started.port })
    expect(await query(user.started.appUrl, 'SELECT current_user AS role')).toEqual([{ role: 'moothall_app' }])
    await server.stop()
    await expect(query(user.started.appUrl, 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('PLAT-57 recovers after the server itself was killed, over its stale postmaster.pid', async () => {
    const first = await start()
    await query(first.superuserUrl('postgres'), 'CREATE TABLE kept_too AS SELECT 7 AS n')
    await killServer(dataDir)
    expect(await readdir(join(dataDir, 'postgres'))).toContain('postmaster.pid')
    const second = await start()
    expect(second.adopted).toBe(false)
    expect(await query(second.superuserUrl('postgres'), 'SELECT n FROM kept_too')).toEqual([{ n: 7 }])
  })

  it('PLAT-57 sees that the process named in a stale postmaster.pid is a stranger, and leaves it alone', async () => {
    const server = await start()
    await killServer(dataDir)
    // Under the database's own user, because PostgreSQL ignores the processes of others by itself.
    const { uid, gid } = await stat(join(dataDir, 'postgres'))
    const stranger = spawn('sleep', ['60'], isRoot ? { uid, gid, cwd: '/' } : { cwd: '/' })
    try {
      await once(stranger, 'spawn')
      const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
      await writeFile(pidFile, (await readFile(pidFile, 'utf8')).replace(/^\d+/, String(stranger.pid)))
      const again = await start()
      expect(again.adopted).toBe(false)
      expect(again.processId).not.toBe(server.processId)
      await again.stop()
      expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
    } finally {
      stranger.kill('SIGKILL')
    }
  })

  it('PLAT-57 ends sessions that are still open when it stops', async () => {
    const server = await start()
    const session = new pg.Client({ connectionString: server.appUrl('postgres') })
    const ended = once(session, 'error')
    session.on('error', () => {})
    await session.connect()
    await server.stop()
    expect(await ended).toMatchObject([{ code: '57P01' }])
    await session.end().catch(() => {})
  })
})

describe('several at once', () => {
  beforeAll(fresh)
  afterAll(remove)

  it('PLAT-57 makes one cluster and one server when four processes start at once, and the last to leave stops it', async () => {
    const users = await Promise.all(Array.from({ length: 4 }, () => spawnServerUser(dataDir)))
    const started = users.map((user) => user.started)
    expect(started.map((one) => one.error).filter(Boolean)).toEqual([])
    expect(new Set(started.map((one) => one.processId)).size).toBe(1)
    expect(new Set(started.map((one) => one.appUrl)).size).toBe(1)
    expect(started.filter((one) => !one.adopted)).toHaveLength(1)
    expect((await readdir(dataDir)).sort()).toEqual(['database.json', 'postgres', 'postgres.log'])

    const [first, ...others] = users
    await Promise.all(others.map((user) => user.finish()))
    expect(await query(started[0]?.appUrl ?? '', 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    await first?.finish()
    await expect(query(started[0]?.appUrl ?? '', 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('PLAT-57 stops when all who use it leave at the same moment, however often', async () => {
    for (let round = 0; round < 5; round++) {
      const users = await Promise.all([start(), start(), start()])
      expect(new Set(users.map((user) => user.processId)).size).toBe(1)
      await Promise.all(users.map((user) => user.stop()))
      await expect(query(users[0].appUrl('postgres'), 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    }
  })
})

describe('the port', () => {
  beforeAll(fresh)
  afterAll(remove)

  it('PLAT-57 moves to another one when the remembered one is taken', async () => {
    const first = await start()
    await first.stop()
    const squatter = await listen(first.port)
    try {
      const second = await start()
      expect(second.port).not.toBe(first.port)
      await second.stop()
    } finally {
      squatter.close()
    }
  })

  it('PLAT-57 insists on a port that was asked for, and refuses without naming a path', async () => {
    const squatter = await listen(0)
    const address = squatter.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const refusal = await start({ port }).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ name: 'EmbeddedError', fault: 'port_taken' })
    expect(String(refusal)).not.toContain(dataDir)
    await new Promise((resolve) => squatter.close(resolve))
    expect(await start({ port })).toMatchObject({ port })
  })
})

describe('what it refuses', () => {
  beforeAll(fresh)
  afterAll(remove)

  it.each([
    ['without its passwords', 'passwords_lost', 'database.json', undefined],
    ['with other passwords', 'passwords_lost', 'database.json', '{"superuserPassword":"another"}'],
    ['of another major version', 'other_version', 'postgres/PG_VERSION', '17\n'],
    ['that cannot start', 'start_failed', 'postgres/postgresql.auto.conf', "shared_preload_libraries = 'nowhere'\n"],
  ])('PLAT-57 a cluster %s (%s), naming no path', async (_, fault, name, content) => {
    await (await start()).stop()
    const file = join(dataDir, name)
    const before = await readFile(file)
    await (content === undefined ? rm(file) : writeFile(file, content))
    try {
      const refusal = await start().catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(EmbeddedError)
      expect(refusal).toMatchObject({ fault })
      expect(String(refusal)).not.toMatch(/nowhere|\//)
      if (fault === 'start_failed') expect(logged.join('\n')).toContain('nowhere')
    } finally {
      await writeFile(file, before)
    }
  })
})

describe.runIf(isRoot)('as root and as somebody else', () => {
  beforeAll(fresh)
  afterAll(remove)

  it('PLAT-57 starts for an ordinary user, under that user', async () => {
    const home = await mkdtemp(join(tmpdir(), 'moothall-home-'))
    await chmod(home, 0o777)
    try {
      const user = await spawnServerUser(join(home, 'not', 'there', 'yet'), NOBODY)
      expect(user.started).toMatchObject({ adopted: false, uid: NOBODY.uid })
      const status = await readFile(`/proc/${user.started.processId}/status`, 'utf8')
      expect(status).toContain(`Uid:\t${NOBODY.uid}\t`)
      expect(((await stat(join(home, 'not'))).mode & 0o777).toString(8)).toBe('700')
      await user.finish()

      await chmod(join(home, 'not'), 0o755)
      await chmod(join(home, 'not', 'there'), 0o755)
      await chmod(join(home, 'not', 'there', 'yet'), 0o755)
      const stranger = await spawnServerUser(join(home, 'not', 'there', 'yet'), { uid: 65533, gid: 65533 })
      expect(stranger.started.error).toBe('EmbeddedError: The data directory belongs to another user.')
    } finally {
      await rm(home, { recursive: true })
    }
  })

  it('PLAT-57 makes directories that the database can pass through, however strict the umask', async () => {
    await chmod(dataDir, 0o755)
    const closed = join(dataDir, 'a')
    const before = process.umask(0o077)
    try {
      const server = await startEmbedded({ dataDir: join(closed, 'b') })
      await server.stop()
    } finally {
      process.umask(before)
    }
    expect(((await stat(closed)).mode & 0o777).toString(8)).toBe('711')
    expect(await readdir(join(closed, 'b'))).toContain('postgres')
  })
})

async function start(options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedServer> {
  const server = await startEmbedded({ dataDir, log: (message) => logged.push(message), ...options })
  running.push(server)
  return server
}

async function query(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return [await client.query(sql)].flat().at(-1)?.rows ?? []
  } finally {
    await client.end()
  }
}

function listen(port: number): Promise<Server> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
