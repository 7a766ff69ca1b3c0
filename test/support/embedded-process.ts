import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export type Started = { port: number; adopted: boolean; processId: number; uid: number; appUrl: string; error?: string }

export type ServerUser = { started: Started; kill(): Promise<void>; finish(): Promise<void> }

/** Another process that starts (or adopts) the server of a data directory, optionally as another user. */
export async function spawnServerUser(dataDir: string, as: { uid?: number; gid?: number } = {}): Promise<ServerUser> {
  const script = join(import.meta.dirname, 'embedded-child.ts')
  const child: ChildProcess = spawn(process.execPath, [script, dataDir], { ...as, stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  const started = JSON.parse((await lines.next()).value ?? '{"error":"said nothing"}') as Started
  const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve()
  return {
    started,
    kill: async () => {
      child.kill('SIGKILL')
      await gone
    },
    finish: async () => {
      child.stdin?.end()
      await gone
    },
  }
}
