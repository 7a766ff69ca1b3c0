import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { databaseAccount } from '../../src/db/embedded-account.ts'

/** What a program that is not of this repo says of its version; null, and a line to read, where it is not installed. */
export function versionOf(program: string): string | null {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  const version = /\d+\.\d+(\.\d+)?/.exec(stdout ?? '')?.[0]
  if (status === 0 && version) return version
  process.stderr.write(`${program} is not installed here: the tests that need it are skipped.\n`)
  return null
}

export type Service = {
  readonly port: number
  signal(signal: NodeJS.Signals): void
  /** kill -9. */
  kill(): Promise<void>
  /** Starts it again on the same port, once `kill` is through. */
  start(): Promise<void>
  /** Kills it and removes its files. */
  remove(): Promise<void>
}

/** A program on loopback, on a port and in a directory of its own, under an ordinary user where root is refused. */
export async function startService(
  program: string,
  prepare: (at: { port: number; dir: string; account: { uid?: number; gid?: number } }) => Promise<string[]>,
): Promise<Service> {
  const account = (await databaseAccount([])) ?? {}
  const dir = await mkdtemp(join(tmpdir(), `moothall-test-${process.pid}-service-`))
  const port = await freePort()
  const args = await prepare({ port, dir, account })
  let child: ReturnType<typeof spawn>
  let exited: Promise<unknown>

  async function start(): Promise<void> {
    let output = ''
    child = spawn(program, args, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'], ...account })
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += text))
    const orphan = () => child.kill('SIGKILL') // nobody else would end it
    process.once('exit', orphan)
    exited = once(child, 'exit')
    void exited.then(() => process.removeListener('exit', orphan))
    while (!(await answers(port))) {
      if (child.exitCode !== null) throw new Error(`${program} ended: ${output}`)
      await delay(20)
    }
  }

  async function kill(): Promise<void> {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await exited
  }

  await start()
  return {
    port,
    signal: (signal) => void child.kill(signal),
    kill,
    start,
    remove: async () => {
      await kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => socket.destroy() && resolve(true))
    socket.once('error', () => resolve(false))
  })
}
