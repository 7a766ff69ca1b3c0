import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type App, serverEnv } from './app.ts'
import { GraphqlClient } from './client.ts'
import { createDatabase, type TestDatabase } from './database.ts'

export const MAIN = join(import.meta.dirname, '../../src/main.ts')

/** What it printed: where it listens, and where browsers should reach it. */
export type Started = {
  address: string
  endpoint: string
  firstOwner?: { org: string; email: string; password: string; signInLink: string | null }
}
export type Exit = { code: number | null; signal: string | null }

export type ServerProcess = {
  readonly started: Started
  readonly url: string
  /** Everything written so far, as it came. */
  output(): string
  signal(signal: NodeJS.Signals): void
  exited(): Promise<Exit>
}

/** `moothall start` in a process of its own, once it serves. It gets no variable but those given and PATH. */
export async function startProcess(
  env: Record<string, string>,
  as: { uid?: number; gid?: number } = {},
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [MAIN, 'start', '--json'], {
    ...as,
    cwd: tmpdir(), // no .env of a developer's
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const orphan = () => child.kill('SIGKILL') // nobody else would end it
  process.once('exit', orphan)
  child.once('exit', () => process.removeListener('exit', orphan))
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }) as Exit)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text
    })
  }
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const first = await lines.next()
  if (first.done) throw new Error(`the server ended: ${JSON.stringify(await exited)} ${output}`)
  const started = JSON.parse(first.value) as Started
  return {
    started,
    url: started.address,
    output: () => output,
    signal: (signal) => void child.kill(signal),
    exited: () => exited,
  }
}

export type AppProcess = App & { readonly process: ServerProcess }

/** The server as `startApp` gives it, but in another process: it can be told to stop, and killed. */
export async function startAppProcess(env: Record<string, string> = {}, shared?: TestDatabase): Promise<AppProcess> {
  const database = shared ?? (await createDatabase())
  const server = await startProcess({ ...serverEnv(database), ...env })
  return {
    url: server.url,
    database,
    process: server,
    log: server.output,
    client: (token) => new GraphqlClient(`${server.url}/graphql`, token),
    async close() {
      server.signal('SIGKILL')
      await server.exited()
      if (!shared) await database.drop()
    },
  }
}
