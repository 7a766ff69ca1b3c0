import { readFile } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import { expect, it } from 'vitest'
import { readConfig, VARIABLES } from '../../src/config.ts'
import { printEnv } from '../../tools/print-env.ts'

it('PLAT-79 .env.example is printed from what the server reads; `npm run env` prints it anew', async () => {
  expect(await readFile(new URL('../../.env.example', import.meta.url), 'utf8')).toBe(printEnv())
})

it('PLAT-79 .env.example names every variable once, with the default that holds without it', () => {
  const uncommented = parseEnv(printEnv().replaceAll(/^#(?=[A-Z])/gm, ''))

  expect(Object.keys(uncommented).sort()).toEqual(Object.keys(VARIABLES).sort())
  expect(readConfig(uncommented)).toEqual(readConfig({}))
})

it('PLAT-79 lets mails, redirects and origins follow the port where it alone is moved', () => {
  expect(readConfig({ PORT: '4100' }).MOOTHALL_PUBLIC_URL).toBe('http://localhost:4100')
  const own = { PORT: '4100', MOOTHALL_PUBLIC_URL: 'https://meet.example.org' }
  expect(readConfig(own).MOOTHALL_PUBLIC_URL).toBe('https://meet.example.org')
})
