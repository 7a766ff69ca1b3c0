import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { importFaults } from '../../tools/imports.ts'
import { filesWith } from './sources.ts'

const ROOT = join(import.meta.dirname, '../..')

/** A wrong import a rule of the layering. Each stands in a file of its own in a copy of the sources. */
const PLANTED: Record<string, [file: string, text: string]> = {
  'lib-is-alone': ['lib/planted.ts', `import '../config.ts'`],
  'db-is-below': ['db/planted.ts', `import '../graphql/errors.ts'`],
  'kit-stands-on-db': ['graphql/planted.ts', `import '../live/hints.ts'`],
  'live-and-queue-are-below-bodies': ['live/planted.ts', `import type { Actor } from '../platform/index.ts'`],
  'platform-calls-down': ['platform/planted.ts', `import '../identity/index.ts'`],
  'identity-calls-down': ['identity/planted.ts', `import '../rooms/index.ts'`],
  'rooms-calls-down': ['rooms/planted-upwards.ts', `import '../gate/planted-index.ts'`],
  'bodies-have-one-face': ['rooms/planted.ts', `import '../identity/session/token.ts'`],
  'bodies-have-one-face-upwards': ['transport/planted.ts', `import '../rooms/poker/cards.ts'`],
  'bodies-are-below-transport': [
    'rooms/planted-transport.ts',
    `export const late = () => import('../transport/headers.ts')`,
  ],
  'transport-is-below-the-server': ['transport/planted-server.ts', `import type { RunningServer } from '../server.ts'`],
  'nothing-calls-main': ['cli/planted.ts', `import '../main.ts'`],
  'no-cycles': ['lib/planted-cycle.ts', `import './planted-cycle.ts'`],
  'product-without-tests': ['cli/planted-test.ts', `import '../../tools/print-env.ts'`],
  'product-without-dev-dependencies': ['cli/planted-dev.ts', `import 'vitest'`],
  resolvable: ['cli/planted-missing.ts', `import './nowhere.ts'`],
}

let copy: string
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'moothall-imports-'))
  for (const name of ['src', 'tools', 'package.json']) await cp(join(ROOT, name), join(copy, name), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  await cp(join(ROOT, 'src/rooms/index.ts'), join(copy, 'src/gate/planted-index.ts'))
  for (const [file, text] of Object.values(PLANTED)) await writeFile(join(copy, 'src', file), `${text}\n`)
}, 60_000)
afterAll(() => rm(copy, { recursive: true }))

it('imports go down the layers only, and every source file is looked at', async () => {
  expect(await importFaults(ROOT)).toEqual([])
}, 60_000)

it('a wrong import of any kind is found and named by its rule', async () => {
  const faults = await importFaults(copy)

  for (const [rule, [file]] of Object.entries(PLANTED)) {
    expect(faults.filter((fault) => fault.startsWith(`${rule}: src/${file} → `))).not.toEqual([])
  }
}, 60_000)

it('only the GraphQL kit, the bodies and what stands below them reach the database', async () => {
  // A connection made elsewhere would know no tenant: pools and clients are made in these files alone.
  const makers = await filesWith(/new (pg\.)?(Pool|Client|PrismaClient)\b/)

  expect(makers.filter((file) => !file.startsWith('src/db/'))).toEqual([
    'src/live/listener.ts', // a LISTEN connection, outside any pool (PLAT-28)
    'src/platform/rate-limits/stores.ts', // counters that stay counted when an operation rolls back (PLAT-69)
  ])
})
