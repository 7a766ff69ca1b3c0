import { createHmac, randomBytes } from 'node:crypto'

/** The one pepper of servers under test. */
export const PEPPER = Buffer.alloc(32, 'pepper')

export type TestKey = { key: string; prefix: string; hash: Buffer }

/** A key as the product makes them, for servers in other processes too. */
export function newTestKey(pepper: Uint8Array = PEPPER): TestKey {
  const prefix = randomBytes(4).toString('hex')
  const secret = randomBytes(32).toString('base64url')
  return { key: `mh_live_${prefix}${secret}`, prefix, hash: createHmac('sha256', pepper).update(secret).digest() }
}
