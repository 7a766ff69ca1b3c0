import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Where a sealed value stands. It opens nowhere else (PLAT-72). */
export type Place = {
  readonly orgId: string
  /** With its schema: `platform.webhooks`. */
  readonly table: string
  readonly rowId: string
  readonly column: string
}

/** A key that wraps data keys: from the operator's list, or held by a key service that never gives it out. */
export type WrappingKey = {
  /** Stands in every envelope that it wrapped: 1 to 255 bytes of UTF-8. */
  readonly id: string
  wrap(dataKey: Buffer, context: Buffer): Promise<Buffer>
  unwrap(wrapped: Buffer, context: Buffer): Promise<Buffer>
}

export type Keyring = {
  /** Wraps what is sealed from now on. */
  readonly current: WrappingKey
  /** Any key that still opens what it once wrapped. */
  find(id: string): WrappingKey | undefined
}

export type EnvelopeFault = 'unreadable' | 'key_missing' | 'does_not_open'

/** A sealed value that stays shut: it is none of ours, its key is gone, or it was changed or stands elsewhere than it was put. */
export class EnvelopeError extends Error {
  override readonly name = 'EnvelopeError'
  readonly fault: EnvelopeFault
  constructor(fault: EnvelopeFault, options?: ErrorOptions) {
    super(`A sealed value does not open (${fault}).`, options)
    this.fault = fault
  }
}

const VERSION = 1
const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts under a fresh data key. The bytes: version, key id, wrapped data key, nonce, ciphertext, tag. */
export async function seal(keyring: Keyring, plaintext: Uint8Array, place: Place): Promise<Buffer> {
  const { current: key } = keyring
  const context = contextOf(place, key.id)
  const dataKey = randomBytes(KEY_BYTES)
  const wrapped = await key.wrap(dataKey, context)
  const sealed = encrypt(dataKey, plaintext, context)
  dataKey.fill(0)
  const id = Buffer.from(key.id)
  const head = Buffer.from([VERSION, id.length])
  const length = Buffer.alloc(2)
  length.writeUInt16BE(wrapped.length)
  return Buffer.concat([head, id, length, wrapped, sealed])
}

/** The plaintext of what was sealed for this very place. Throws EnvelopeError. */
export async function unseal(keyring: Keyring, envelope: Uint8Array, place: Place): Promise<Buffer> {
  const { keyId, wrapped, sealed } = partsOf(envelope)
  const key = keyring.find(keyId)
  if (!key) throw new EnvelopeError('key_missing')
  const context = contextOf(place, keyId)
  const dataKey = await key.unwrap(wrapped, context)
  try {
    return decrypt(dataKey, sealed, context)
  } finally {
    dataKey.fill(0)
  }
}

/** Which key wrapped it. */
export function keyIdOf(envelope: Uint8Array): string {
  return partsOf(envelope).keyId
}

/** A wrapping key that we hold ourselves. */
export function localKey(id: string, secret: Buffer): WrappingKey {
  if (secret.length !== KEY_BYTES) throw new TypeError(`a wrapping key has ${KEY_BYTES} bytes`)
  return {
    id,
    wrap: async (dataKey, context) => encrypt(secret, dataKey, context),
    unwrap: async (wrapped, context) => decrypt(secret, wrapped, context),
  }
}

/** What the bytes are bound to, unambiguous however its parts are spelled. */
function contextOf({ orgId, table, rowId, column }: Place, keyId: string): Buffer {
  return Buffer.from(JSON.stringify([VERSION, orgId, table, rowId, column, keyId]))
}

function encrypt(key: Buffer, plaintext: Uint8Array, context: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(context)
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
}

function decrypt(key: Buffer, sealed: Buffer, context: Buffer): Buffer {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new EnvelopeError('unreadable')
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    decipher.setAAD(context).setAuthTag(sealed.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch (cause) {
    throw new EnvelopeError('does_not_open', { cause })
  }
}

function partsOf(envelope: Uint8Array): { keyId: string; wrapped: Buffer; sealed: Buffer } {
  const bytes = Buffer.from(envelope.buffer, envelope.byteOffset, envelope.byteLength)
  let at = 2
  const take = (length: number) => {
    if (at + length > bytes.length) throw new EnvelopeError('unreadable')
    at += length
    return bytes.subarray(at - length, at)
  }
  if (bytes.length < at || bytes[0] !== VERSION) throw new EnvelopeError('unreadable')
  const keyId = take(bytes[1]!).toString()
  const wrapped = take(take(2).readUInt16BE())
  return { keyId, wrapped, sealed: bytes.subarray(at) }
}
