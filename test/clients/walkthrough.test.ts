import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ServerProcess, startProcess } from '../support/app-process.ts'
import { makeDataDir } from '../support/cluster.ts'

const FOLDER = join(import.meta.dirname, '../../docs/walkthrough')

let dataDir: string
let server: ServerProcess
// As `npm start` on a new machine: the database of its own, with the first owner.
beforeAll(async () => {
  dataDir = await makeDataDir()
  // Its port is known before it starts, as addresses that it gives out name it.
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address() as { port: number }
  await new Promise((resolve) => free.close(resolve))
  server = await startProcess({ MOOTHALL_DATA_DIR: dataDir, MOOTHALL_DRAIN_DELAY: '0s', PORT: String(port) })
})
afterAll(async () => {
  server?.signal('SIGTERM')
  await server?.exited()
  await rm(dataDir, { recursive: true, force: true })
})

it('ROOM-124 the walk-through plays a poker session and a scheduled standup, and says what its transcript says', async () => {
  const { password } = server.started.firstOwner!
  const walk = spawn(process.execPath, [join(FOLDER, 'walkthrough.ts'), server.url, password], { stdio: 'pipe' })
  const [said, complained, [code]] = await Promise.all([text(walk.stdout), text(walk.stderr), once(walk, 'exit')])
  expect({ code, complained, said: anyDay(said) }).toEqual({
    code: 0,
    complained: '',
    said: anyDay(await readFile(join(FOLDER, 'transcript.txt'), 'utf8')),
  })
}, 240_000)

/** The same whenever it is said. */
const anyDay = (said: string) => said.replace(/\d{4}-\d\d-\d\d/g, 'DAY').replace(/\d\d:\d\d UTC/g, 'TIME UTC')
