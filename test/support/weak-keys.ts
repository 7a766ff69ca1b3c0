/** Encodings of keys that nobody may have, in hex: each is imported by node:crypto all the same. */
export const WEAK_KEYS: readonly [what: string, hex: string][] = [
  ['the identity', `01${'00'.repeat(31)}`],
  ['the identity with a sign', `01${'00'.repeat(30)}80`],
  ['order 2', `ec${'ff'.repeat(30)}7f`],
  ['order 2 with a sign', `ec${'ff'.repeat(31)}`],
  ['order 4', '00'.repeat(32)],
  ['order 4 with a sign', `${'00'.repeat(31)}80`],
  ['order 8', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'],
  ['order 8 with a sign', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85'],
  ['order 8, the other', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'],
  ['order 8, the other with a sign', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa'],
  ['order 4 past the field', `ed${'ff'.repeat(30)}7f`],
  ['order 4 past the field, with a sign', `ed${'ff'.repeat(31)}`],
  ['the identity past the field', `ee${'ff'.repeat(30)}7f`],
  ['the identity past the field, with a sign', `ee${'ff'.repeat(31)}`],
  ['no canonical encoding', `f0${'ff'.repeat(30)}7f`],
  ['the greatest of all', 'ff'.repeat(32)],
]

export const publicKeyOf = (raw: Uint8Array): string => `ed25519:${Buffer.from(raw).toString('base64url')}`
