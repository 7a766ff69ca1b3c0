import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { RefusedError } from './command.ts'
import type { ExportedTable } from './export-tables.ts'

export type Manifest = {
  org: { id: string; slug: string }
  /** When the snapshot was taken; every file shows that moment. */
  takenAt: string
  /** The last migration of the schema that the rows have. */
  migration: string
  files: { name: string; rows: number; sha256: string }[]
}

const ROWS_AT_ONCE = 500

/** The manifest comes last: a folder without one is of an export that did not end. */
const MANIFEST = 'manifest.json'

/** An export never writes between other files. */
export async function openFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if ((await readdir(folder)).length > 0) throw new RefusedError('The folder of --out is not empty.')
}

/** Writes the rows of a table one a line, without holding them; `client` is inside the snapshot. */
export async function writeTable(
  client: pg.Client,
  folder: string,
  { name, select }: ExportedTable,
  orgId: string,
): Promise<Manifest['files'][number]> {
  const file = `${name}.ndjson`
  const stream = createWriteStream(join(folder, file), { mode: 0o600, flags: 'wx' })
  const written = finished(stream)
  written.catch(() => {}) // reported where it is awaited
  const hash = createHash('sha256')
  let rows = 0
  await client.query(`DECLARE exported NO SCROLL CURSOR FOR ${select}`, [orgId])
  for (;;) {
    const { rows: found } = await client.query<{ line: string }>(`FETCH ${ROWS_AT_ONCE} FROM exported`)
    if (found.length === 0) break
    const text = found.map(({ line }) => `${line}\n`).join('')
    hash.update(text)
    rows += found.length
    if (!stream.write(text)) await Promise.race([once(stream, 'drain'), written])
  }
  await client.query('CLOSE exported')
  stream.end()
  await written
  return { name: file, rows, sha256: hash.digest('hex') }
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const unfinished = join(folder, `${MANIFEST}.part`)
  await writeFile(unfinished, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
  await rename(unfinished, join(folder, MANIFEST))
}
