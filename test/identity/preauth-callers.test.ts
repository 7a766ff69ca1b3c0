import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const SRC = join(import.meta.dirname, '../../src')

/** Files of ours that hold the text, generated ones aside. */
function filesWith(text: string): string[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('generated'))
    .filter((file) => readFileSync(join(SRC, file), 'utf8').includes(text))
}

it('PLAT-4 has one module that asks what stands before an org is known', () => {
  expect(filesWith('identity.preauth_')).toEqual(['identity/session/preauth.ts'])
})
