import { execFile } from 'node:child_process'
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findBinaries } from '../../src/db/embedded-binaries.ts'
import { openDataDir } from '../../src/db/embedded-cluster.ts'

const NOBODY = { uid: 65534, gid: 65534 }
const run = promisify(execFile)

let place: string
let packageDir: string
let shelters: string[]

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'moothall-place-'))
  await chmod(place, 0o755)
  packageDir = join(place, 'package')
  shelters = [join(place, 'shelter')]
  await layPackage()
})

afterEach(() => rm(place, { recursive: true, force: true }))

it('PLAT-57 makes the library links that a skipped install script left out', async () => {
  const { initdb } = await findBinaries({ account: undefined, packageDir, shelters })
  expect(initdb).toBe(join(packageDir, 'native/bin/initdb'))
  expect(await readlink(join(packageDir, 'native/lib/libone.so.1'))).toBe('libone.so.1.2')
  expect(await readFile(join(packageDir, 'native/lib/libone.so.1'), 'utf8')).toBe('library')
  await findBinaries({ account: undefined, packageDir, shelters })
  expect(await readdir(place)).not.toContain('shelter')
})

it('PLAT-57 finds programs that run on this system in the installed package', async () => {
  const { postgres } = await findBinaries({ account: undefined })
  expect((await run(postgres, ['--version'])).stdout).toMatch(/^postgres \(PostgreSQL\) 18\./)
})

describe.runIf(process.getuid?.() === 0)('as root', () => {
  it('PLAT-57 copies the programs once to where the unprivileged account can run them', async () => {
    await chmod(packageDir, 0o700)
    const found = await Promise.all([1, 2, 3].map(() => findBinaries({ account: NOBODY, packageDir, shelters })))
    const { initdb, postgres } = found[0] as { initdb: string; postgres: string }
    expect(found.map((one) => one.initdb)).toEqual([initdb, initdb, initdb])
    expect((await run(postgres, [], { ...NOBODY, cwd: '/' })).stdout).toBe('postgres runs\n')
    expect(await readdir(shelters[0] ?? '')).toEqual(['postgres-1.2.3'])
    expect((await stat(postgres)).uid).toBe(0)
    const libraries = join(initdb, '../../lib')
    expect((await readdir(libraries)).sort()).toEqual(['libone.so.1', 'libone.so.1.2'])
    expect((await lstat(join(libraries, 'libone.so.1'))).isSymbolicLink()).toBe(true)
  })

  it('PLAT-57 runs no programs from a shared place that somebody else made first', async () => {
    await chmod(packageDir, 0o700)
    const [squatted = ''] = shelters
    await mkdir(squatted)
    await chmod(squatted, 0o777)
    const refusal = findBinaries({ account: NOBODY, packageDir, shelters })
    await expect(refusal).rejects.toMatchObject({ fault: 'unreachable_directory' })

    const found = await findBinaries({ account: NOBODY, packageDir, shelters: [squatted, join(place, 'second')] })
    expect(found.initdb).toContain(join(place, 'second'))
  })

  it('PLAT-57 keeps the cluster outside a closed directory such as the home of root, and finds it again', async () => {
    const home = join(place, 'home')
    await mkdir(home, { mode: 0o700 })
    const first = await openDataDir(join(home, '.moothall'), shelters)
    expect(first.dir).toMatch(new RegExp(`^${shelters[0]}/[0-9a-f]{16}$`))
    expect(((await stat(home)).mode & 0o777).toString(8)).toBe('700')
    expect(await openDataDir(join(home, '.moothall'), [])).toEqual(first)
  })
})

async function layPackage(): Promise<void> {
  for (const dir of ['native/bin', 'native/lib']) await mkdir(join(packageDir, dir), { recursive: true, mode: 0o755 })
  const lay = (name: string, content: string) => writeFile(join(packageDir, name), content)
  await lay('package.json', JSON.stringify({ version: '1.2.3' }))
  await lay('native/lib/libone.so.1.2', 'library')
  await lay('native/lib/libone.a', 'not needed to run')
  // Not executable, as some archives leave them.
  for (const program of ['initdb', 'postgres']) await lay(`native/bin/${program}`, `#!/bin/sh\necho ${program} runs\n`)
  await lay(
    'native/pg-symlinks.json',
    JSON.stringify([{ source: 'native/lib/libone.so.1.2', target: 'native/lib/libone.so.1' }]),
  )
}
