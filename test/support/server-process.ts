import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Actor } from './actor.ts'
import { type App, serverEnv } from './app.ts'
import { GraphqlClient } from './client.ts'
import type { TestDatabase } from './database.ts'

const MAIN = join(import.meta.dirname, '../../src/main.ts')
const START_MS = 60_000

export type ServerProcess = App & {
  /** kill -9, as when the machine goes. */
  kill(): Promise<void>
  /** SIGTERM, and what it exits with. */
  stop(): Promise<number | null>
}

/** The product as a process of its own on an existing database; several may share one. `close` leaves the database. */
export async function startProcess(database: TestDatabase, env: Record<string, string> = {}): Promise<ServerProcess> {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, [MAIN, 'start', '--json'], {
    env: { PATH, HOME, ...serverEnv(database), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line))
  const orphan = () => child.kill('SIGKILL')
  process.once('exit', orphan)
  child.once('exit', () => process.removeListener('exit', orphan))

  const url = await endpointOf(child).catch((error: Error) => {
    child.kill('SIGKILL')
    throw new Error(`the server did not start: ${error.message}\n${lines.slice(-10).join('\n')}`)
  })
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal)
      await once(child, 'exit')
    }
    return child.exitCode
  }
  return {
    url,
    database,
    log: () => lines.join('\n'),
    client: (token) => new GraphqlClient(`${url}/graphql`, token),
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    close: async () => void (await end('SIGKILL')),
  }
}

async function endpointOf(child: ChildProcess): Promise<string> {
  const gone = once(child, 'exit').then(([code, signal]) =>
    Promise.reject(new Error(`it ended with ${code ?? signal}`)),
  )
  gone.catch(() => {})
  const line = once(createInterface({ input: child.stdout! }), 'line', { signal: AbortSignal.timeout(START_MS) })
  const [text] = (await Promise.race([line, gone])) as [string]
  return new URL((JSON.parse(text) as { endpoint: string }).endpoint).origin
}

/** The same person, calling another server of the same database. */
export function actorAt(app: App, actor: Actor): Actor {
  return new Actor(actor, app.client(actor.client.token))
}
