import { type Keyring, localKey, type Place, seal, unseal } from '../../lib/envelope.ts'
import { awsKms, KMS_PREFIX, type Kms, kmsKey } from '../../lib/kms.ts'

export type KeyringOptions = {
  /** The first wraps, unless a key of a service does; all of them open what they once wrapped. */
  encryptionKeys: readonly { id: string; secret: Buffer }[]
  /** A key of AWS KMS that wraps instead; empty for none. */
  kmsKeyId: string
  kms?: Kms
}

/** The keys that hold what the database must not hold in the clear (PLAT-72). */
export function createKeyring({ encryptionKeys, kmsKeyId, kms }: KeyringOptions): Keyring {
  const keys = new Map(encryptionKeys.map(({ id, secret }) => [id, localKey(id, secret)]))
  const service = kmsKeyId === '' ? undefined : (kms ?? awsKms())
  const current = service ? kmsKey(kmsKeyId, service) : keys.values().next().value
  if (!current) throw new TypeError('a keyring has a key')
  return {
    current,
    // Which of its keys a service still opens with is said there, not here.
    find: (id) => (service && id.startsWith(KMS_PREFIX) ? kmsKey(id.slice(KMS_PREFIX.length), service) : keys.get(id)),
  }
}

let current: Keyring | undefined

/** Gives this process its keys, before anything is sealed or opened. */
export function setKeyring(keyring: Keyring | undefined): void {
  current = keyring
}

export function currentKeyring(): Keyring {
  if (!current) throw new Error('There is no keyring yet.')
  return current
}

/**
 * Seals a secret for one place in the database. A key service may be asked, so this goes before the first statement of an
 * operation, which begins its transaction.
 */
export function sealSecret(place: Place, secret: string): Promise<Buffer<ArrayBuffer>> {
  return seal(currentKeyring(), Buffer.from(secret), place) as Promise<Buffer<ArrayBuffer>>
}

/** The secret that was sealed for that place. Asks the key service too: outside an operation, or before its first statement. */
export async function unsealSecret(place: Place, envelope: Uint8Array): Promise<string> {
  return (await unseal(currentKeyring(), envelope, place)).toString()
}

/** What a table's `kek_id` says of values sealed now. */
export const currentKeyId = (): string => currentKeyring().current.id
