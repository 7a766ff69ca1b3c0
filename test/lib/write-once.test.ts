import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readJson, replaceJson, writeJsonOnce } from '../../src/lib/write-once.ts'

let dir: string
let path: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'moothall-once-'))
  path = join(dir, 'secrets.json')
})
afterEach(() => rm(dir, { recursive: true }))

it('PLAT-78 lets one of many writers win, and all use what it wrote', async () => {
  const given = await Promise.all(Array.from({ length: 50 }, (_, at) => writeJsonOnce(path, { secret: at })))
  expect(new Set(given.map(({ secret }) => secret)).size).toBe(1)
  expect(await readJson(path)).toEqual(given[0])
  expect(await readdir(dir)).toEqual(['secrets.json'])
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

it('PLAT-78 never writes over what is there', async () => {
  await writeJsonOnce(path, { secret: 1 })
  const before = await readFile(path, 'utf8')
  expect(await writeJsonOnce(path, { secret: 2 })).toEqual({ secret: 1 })
  expect(await readFile(path, 'utf8')).toBe(before)
})

it('PLAT-78 refuses what it cannot read instead of making another', async () => {
  await writeFile(path, '{"sec')
  await expect(writeJsonOnce(path, { secret: 2 })).rejects.toThrow()
  await expect(readJson(path)).rejects.toThrow(SyntaxError)
  expect(await readdir(dir)).toEqual(['secrets.json'])
})

it('reads what is not there as nothing, and replaces as a whole', async () => {
  expect(await readJson(path)).toBeUndefined()
  await replaceJson(path, { port: 1 })
  await replaceJson(path, { port: 2 })
  expect(await readJson(path)).toEqual({ port: 2 })
  expect(await readdir(dir)).toEqual(['secrets.json'])
})
