import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export type ServerProcess = {
  /** Scheme, host and port. */
  readonly url: string
  readonly pid: number
  /** What it wrote last to its log. */
  lastWords(): string
  stop(): Promise<void>
}

const START_MS = 60_000
const STOP_MS = 20_000
const WORDS_KEPT = 20

/** Runs a server in a process of its own, so that its CPU time is its own. It says where it listens on its first line, as JSON. */
export async function startServerProcess(args: readonly string[], env: Record<string, string>): Promise<ServerProcess> {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, args, { env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const words: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    words.push(line)
    if (words.length > WORDS_KEPT) words.shift()
  })
  // Whatever ends this process ends its servers.
  const orphan = () => child.kill('SIGKILL')
  process.once('exit', orphan)
  child.once('exit', () => process.removeListener('exit', orphan))

  try {
    const url = await firstEndpoint(child)
    return { url, pid: child.pid as number, lastWords: () => words.join('\n'), stop: () => stop(child) }
  } catch (error) {
    child.kill('SIGKILL')
    throw new Error(`${args.at(-1)} did not start: ${(error as Error).message}\n${words.join('\n')}`)
  }
}

async function firstEndpoint(child: ChildProcess): Promise<string> {
  const gone = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`it ended with ${code ?? signal}`)
  })
  gone.catch(() => {}) // once it serves, its end is no news
  const late = AbortSignal.timeout(START_MS)
  const line = once(createInterface({ input: child.stdout! }), 'line', { signal: late })
  const [text] = (await Promise.race([line, gone])) as [string]
  return new URL((JSON.parse(text) as { endpoint: string }).endpoint).origin
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  child.kill('SIGTERM')
  await once(child, 'exit')
  clearTimeout(timer)
}
