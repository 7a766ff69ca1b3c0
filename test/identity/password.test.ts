import { createHash } from 'node:crypto'
import * as addon from '@node-rs/argon2'
import { afterEach, describe, expect, it } from 'vitest'
import { addonArgon2id, nodeArgon2id } from '../../src/identity/session/argon2.ts'
import {
  hashPassword,
  needsRehash,
  PasswordBusyError,
  passwordFault,
  setPasswordConcurrency,
  verifyPassword,
} from '../../src/identity/session/password.ts'
import { csrfMatches, hashSessionToken, newCsrfSecret, newSessionToken } from '../../src/identity/session/token.ts'

const PASSWORD = 'correct horse battery'

afterEach(() => setPasswordConcurrency(4))

describe('password hashes', () => {
  it('ID-22 hashes with argon2id, t=3, m=64 MiB, p=4 as a PHC string that other implementations verify', async () => {
    const phc = await hashPassword(PASSWORD)
    expect(phc).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=4\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(await addon.verify(phc, PASSWORD)).toBe(true)
    expect(await verifyPassword(PASSWORD, phc)).toBe(true)
    expect(await verifyPassword(`${PASSWORD} `, phc)).toBe(false)
    expect(await hashPassword(PASSWORD)).not.toBe(phc)
  })

  it('ID-22 computes the same with and without argon2 in Node', async () => {
    const input = {
      message: 'pässword',
      nonce: Buffer.alloc(16, 7),
      tagLength: 32,
      memory: 256,
      passes: 2,
      parallelism: 2,
    }
    expect(await addonArgon2id(input)).toEqual(await nodeArgon2id(input))
  })

  it('ID-22 verifies the password in another normalisation', async () => {
    const phc = await hashPassword('Zo\u00eb Zo\u00eb Zo\u00eb Zo\u00eb')
    expect(await verifyPassword('Zoe\u0308 Zoe\u0308 Zoe\u0308 Zoe\u0308', phc)).toBe(true)
  })

  it('ID-22 verifies a hash with other parameters and asks for it to be rewritten', async () => {
    const older = await addon.hash(PASSWORD, { memoryCost: 8192, timeCost: 2, parallelism: 1, outputLen: 24 })
    expect(await verifyPassword(PASSWORD, older)).toBe(true)
    expect(await verifyPassword('another horse', older)).toBe(false)
    expect(needsRehash(older)).toBe(true)
    expect(
      needsRehash(await addon.hash(PASSWORD, { memoryCost: 65536, timeCost: 3, parallelism: 4, outputLen: 24 })),
    ).toBe(true)
    expect(needsRehash(await hashPassword(PASSWORD))).toBe(false)
    expect(needsRehash('$2b$12$abcdefghijklmnopqrstuv')).toBe(true)
  })

  it('ID-23 computes without a hash as well, and for one it cannot read', async () => {
    const phc = await hashPassword(PASSWORD)
    const time = async (stored: string | null) => {
      const started = performance.now()
      expect(await verifyPassword('wrong horse', stored)).toBe(false)
      return performance.now() - started
    }
    const known = Math.min(await time(phc), await time(phc), await time(phc))
    const unknown = Math.min(await time(null), await time(null), await time(null))
    const unreadable = Math.min(await time('!'), await time('!'), await time('!'))
    expect(unknown).toBeGreaterThan(known / 4)
    expect(unreadable).toBeGreaterThan(known / 4)
  })

  it('ID-22 computes a bounded number at once, lets 64 wait and refuses the next', async () => {
    setPasswordConcurrency(1)
    const cheap = await addon.hash(PASSWORD, { memoryCost: 64, timeCost: 1, parallelism: 1 })
    const tries = Array.from({ length: 66 }, () => verifyPassword(PASSWORD, cheap))
    const settled = await Promise.allSettled(tries)
    expect(settled.filter((one) => one.status === 'fulfilled' && one.value)).toHaveLength(65)
    expect(settled.at(-1)).toMatchObject({ status: 'rejected', reason: expect.any(PasswordBusyError) })
    expect(await verifyPassword(PASSWORD, cheap)).toBe(true)
  })
})

describe('new passwords', () => {
  const ada = { email: 'ada.lovelace@example.org', displayName: 'Countess of Lovelace' }

  it.each([
    ['11 characters', 'x'.repeat(11)],
    ['11 characters in 12 code units', `${'x'.repeat(10)}😀`],
    ['12 code points that compose to 11', `${'x'.repeat(10)}e\u0308`],
    ['257 characters', 'x'.repeat(257)],
    ['a NUL', 'correct horse\0'],
    ['a lone surrogate', 'correct horse\ud800'],
    ['the email', 'ada.lovelace@example.org'],
    ['the email in capitals', 'ADA.LOVELACE@EXAMPLE.ORG'],
    ['the local part', 'ada.lovelace'],
    ['the display name', 'countess of lovelace'],
  ])('ID-22 refuses %s', (_, password) => {
    const fault = passwordFault(password, ada)
    expect(fault).toBeTypeOf('string')
    expect(fault).not.toContain(password)
  })

  it('ID-22 accepts 12 to 256 characters, 1,024 bytes at most', () => {
    for (const password of ['x'.repeat(12), '😀'.repeat(256), 'ada.lovelace@example.com', ' '.repeat(12)]) {
      expect(passwordFault(password, ada)).toBeNull()
      expect(Buffer.byteLength(password)).toBeLessThanOrEqual(1024)
    }
    expect(passwordFault('ada.lovelace', { email: null, displayName: null })).toBeNull()
  })
})

describe('session tokens', () => {
  it('ID-13 makes 32 random bytes as base64url behind mhs_, and stores their SHA-256 alone', () => {
    const { token, hash } = newSessionToken()
    expect(token).toMatch(/^mhs_[A-Za-z0-9_-]{43}$/)
    expect(hash).toEqual(createHash('sha256').update(token).digest())
    expect(hashSessionToken(token)).toEqual(hash)
    expect(newSessionToken().token).not.toBe(token)
  })

  it('ID-13 looks up nothing that cannot be a token', () => {
    const { token } = newSessionToken()
    for (const text of [
      '',
      'mhs_',
      token.slice(0, -1),
      `${token}A`,
      `${token}\n`,
      ` ${token}`,
      token.replace('mhs_', 'mh_'),
      token.toUpperCase(),
    ]) {
      expect(hashSessionToken(text)).toBeNull()
    }
  })

  it('ID-14 knows the CSRF secret of the session, and no other', () => {
    const { secret, hash } = newCsrfSecret()
    expect(csrfMatches(secret, hash)).toBe(true)
    expect(csrfMatches(secret, new Uint8Array(hash))).toBe(true)
    expect(csrfMatches(newCsrfSecret().secret, hash)).toBe(false)
    for (const missing of ['', null, undefined]) expect(csrfMatches(missing, hash)).toBe(false)
    expect(csrfMatches(secret, null)).toBe(false)
    expect(csrfMatches(secret, hash.subarray(1))).toBe(false)
  })
})
