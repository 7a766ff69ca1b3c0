import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { text } from 'node:stream/consumers'
import { MAIN } from './app-process.ts'

export type Ran = { code: number; stdout: string; stderr: string }

/** Runs one command line of the product to its end, with no variables but those given. */
export async function moothall(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: tmpdir(), // no .env of a developer's
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { code, stdout, stderr }
}
