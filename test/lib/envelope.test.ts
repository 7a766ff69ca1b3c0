import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Keyring, keyIdOf, localKey, type Place, seal, unseal } from '../../src/lib/envelope.ts'

const PLACE: Place = { orgId: 'o1', table: 'platform.webhooks', rowId: 'r1', column: 'secret_envelope' }
const SECRET = Buffer.from('c4n4ry 🔑')

function ring(...ids: string[]): Keyring {
  const keys = new Map(ids.map((id) => [id, localKey(id, randomBytes(32))]))
  return { current: keys.get(ids[0]!)!, find: (id) => keys.get(id) }
}
const faultOf = (opening: Promise<unknown>) =>
  opening.then(
    () => 'opened',
    (error) => error.fault ?? error,
  )

describe('an envelope', () => {
  it('PLAT-72 opens where it was sealed, and shows nothing of what it holds', async () => {
    const keys = ring('k1')
    for (const secret of [SECRET, Buffer.alloc(0), randomBytes(100_000)]) {
      const envelope = await seal(keys, secret, PLACE)
      expect(await unseal(keys, envelope, PLACE)).toEqual(secret)
      expect(envelope.subarray(0, 4).toString('latin1')).toBe('\x01\x02k1')
    }
    expect((await seal(keys, SECRET, PLACE)).includes('c4n4ry')).toBe(false)
  })

  it('PLAT-72 has a data key and a nonce of its own each time', async () => {
    const keys = ring('k1')
    const [one, two] = [await seal(keys, SECRET, PLACE), await seal(keys, SECRET, PLACE)]
    // Version and key id are the same, and the length of the wrapped key; nothing behind them is.
    for (let at = 6; at + 12 <= one.length; at += 12) {
      expect(one.subarray(at, at + 12)).not.toEqual(two.subarray(at, at + 12))
    }
  })

  it.each([
    ['org', { orgId: 'o2' }],
    ['table', { table: 'gate.credentials' }],
    ['row', { rowId: 'r2' }],
    ['column', { column: 'previous_secret_envelope' }],
    ['row and column spelled together', { rowId: 'r1","secret', column: 'envelope' }],
  ])('PLAT-36 does not open when copied to another %s', async (_, elsewhere) => {
    const keys = ring('k1')
    const envelope = await seal(keys, SECRET, PLACE)
    expect(await faultOf(unseal(keys, envelope, { ...PLACE, ...elsewhere }))).toBe('does_not_open')
    expect(await faultOf(unseal(keys, envelope, PLACE))).toBe('opened')
  })

  it('PLAT-72 does not open under another key, nor under the name of one', async () => {
    const keys = ring('k1', 'k2')
    const envelope = await seal(keys, SECRET, PLACE)
    expect(keyIdOf(envelope)).toBe('k1')
    expect(await faultOf(unseal(ring('k2'), envelope, PLACE))).toBe('key_missing')
    expect(await faultOf(unseal(ring('k1'), envelope, PLACE))).toBe('does_not_open')

    const renamed = Buffer.from(envelope)
    renamed.write('k2', 2)
    const same = keys.find('k1')!
    const twoNames: Keyring = { current: same, find: () => same }
    expect(await faultOf(unseal(twoNames, renamed, PLACE))).toBe('does_not_open')
  })

  it('PLAT-72 does not open when any byte of it was changed, lost or added', async () => {
    const keys = ring('k1')
    const envelope = await seal(keys, SECRET, PLACE)
    for (let at = 0; at < envelope.length; at++) {
      const changed = Buffer.from(envelope)
      changed[at] = changed[at]! ^ 1
      expect(await faultOf(unseal(keys, changed, PLACE))).toMatch(/^(unreadable|key_missing|does_not_open)$/)
      expect(await faultOf(unseal(keys, envelope.subarray(0, at), PLACE))).toMatch(/^(unreadable|does_not_open)$/)
    }
    expect(await faultOf(unseal(keys, Buffer.concat([envelope, Buffer.of(0)]), PLACE))).toBe('does_not_open')
  })

  it('PLAT-72 opens what an older key wrapped while that key is kept', async () => {
    const [old, young] = [localKey('k1', randomBytes(32)), localKey('k2', randomBytes(32))]
    const envelope = await seal({ current: old, find: () => old }, SECRET, PLACE)
    const both: Keyring = { current: young, find: (id) => [young, old].find((key) => key.id === id) }
    expect(await unseal(both, envelope, PLACE)).toEqual(SECRET)
    expect(keyIdOf(await seal(both, SECRET, PLACE))).toBe('k2')
  })

  it('PLAT-72 says nothing of what it holds when it stays shut', async () => {
    const keys = ring('k1')
    const envelope = await seal(keys, SECRET, PLACE)
    const error = await unseal(keys, envelope, { ...PLACE, rowId: 'r2' }).catch((error: unknown) => error)
    expect(String(error)).toBe('EnvelopeError: A sealed value does not open (does_not_open).')
  })
})
