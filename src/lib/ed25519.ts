/** 2^255 - 19: the field of the curve. */
const P = 2n ** 255n - 19n
const SIGN_BIT = 1n << 255n

/**
 * The y of every point whose order divides 8, whichever x it has. Under such a key, the identity first of all, signatures
 * can be made without a secret; importing one succeeds all the same.
 */
const SMALL_ORDER: ReadonlySet<bigint> = new Set([
  1n, // order 1: the identity
  P - 1n, // order 2
  0n, // order 4
  littleEndian('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'), // order 8
  littleEndian('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'),
])

/** What is wrong with the 32 bytes as somebody's public key, or null (ID-48, GATE-11). */
export function ed25519KeyFault(raw: Uint8Array): string | null {
  if (raw.length !== 32) return 'must be 32 bytes'
  const y = littleEndian(Buffer.from(raw).toString('hex')) & (SIGN_BIT - 1n) // both signs of x
  if (y >= P) return 'must be encoded canonically'
  if (SMALL_ORDER.has(y)) return 'must not be a point of small order'
  return null
}

function littleEndian(hex: string): bigint {
  return BigInt(`0x${Buffer.from(hex, 'hex').reverse().toString('hex')}`)
}
