import { Actor } from './actor.ts'
import type { App } from './app.ts'
import { startAppProcess } from './app-process.ts'
import type { TestDatabase } from './database.ts'

export type ServerProcess = App & {
  /** kill -9, as when the machine goes. */
  kill(): Promise<void>
  /** SIGTERM, and what it exits with. */
  stop(): Promise<number | null>
}

/** The product as a process of its own on an existing database; several may share one. `close` leaves the database. */
export async function startProcess(database: TestDatabase, env: Record<string, string> = {}): Promise<ServerProcess> {
  const app = await startAppProcess(env, database)
  const end = async (signal: NodeJS.Signals) => {
    app.process.signal(signal)
    return (await app.process.exited()).code
  }
  return { ...app, kill: async () => void (await end('SIGKILL')), stop: () => end('SIGTERM') }
}

/** The same person, calling another server of the same database. */
export function actorAt(app: App, actor: Actor): Actor {
  return new Actor(actor, app.client(actor.client.token))
}
