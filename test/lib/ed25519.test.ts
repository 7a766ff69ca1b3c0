import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { expect, it } from 'vitest'
import { ed25519KeyFault } from '../../src/lib/ed25519.ts'
import { WEAK_KEYS } from '../support/weak-keys.ts'

it.each(WEAK_KEYS)('ID-48, GATE-11 refuses %s, which node:crypto imports', (_, hex) => {
  const raw = Buffer.from(hex, 'hex')
  const imported = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') },
    format: 'jwk',
  })
  expect(imported.asymmetricKeyType).toBe('ed25519')
  expect(ed25519KeyFault(raw)).toMatch(/canonically|small order/)
})

it('ID-48 takes keys as they are made, whatever their sign', () => {
  const signs = new Set<number>()
  for (let at = 0; at < 64; at++) {
    const { publicKey } = generateKeyPairSync('ed25519')
    const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
    signs.add(raw[31]! >> 7)
    expect(ed25519KeyFault(raw)).toBeNull()
  }
  expect([...signs].sort()).toEqual([0, 1])
})

it('ID-48 takes the base point, and its neighbours of the weak ones only where they are none', () => {
  expect(ed25519KeyFault(Buffer.from(`58${'66'.repeat(31)}`, 'hex'))).toBeNull()
  expect(ed25519KeyFault(Buffer.from(`eb${'ff'.repeat(30)}7f`, 'hex'))).toBeNull()
  for (const length of [0, 31, 33]) expect(ed25519KeyFault(Buffer.alloc(length, 7))).toBe('must be 32 bytes')
})
