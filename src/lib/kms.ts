import { createHash } from 'node:crypto'
import type { KMSClient } from '@aws-sdk/client-kms'
import { EnvelopeError, type WrappingKey } from './envelope.ts'

/** Stands before a service's key id in envelopes, so that it is never taken for one of the operator's list. */
export const KMS_PREFIX = 'kms:'

const TIMEOUTS = { connectionTimeout: 3_000, requestTimeout: 5_000 }

/** What is asked of the service; its client by default, which finds region, endpoint and credentials by itself. */
export type Kms = {
  encrypt(keyId: string, plaintext: Buffer, context: Record<string, string>): Promise<Uint8Array>
  decrypt(keyId: string, ciphertext: Buffer, context: Record<string, string>): Promise<Uint8Array>
}

/** A key that AWS KMS holds: data keys go there to be wrapped and unwrapped. */
export function kmsKey(keyId: string, kms: Kms): WrappingKey {
  return {
    id: `${KMS_PREFIX}${keyId}`,
    wrap: async (dataKey, context) => Buffer.from(await kms.encrypt(keyId, dataKey, encryptionContext(context))),
    unwrap: async (wrapped, context) => {
      try {
        return Buffer.from(await kms.decrypt(keyId, wrapped, encryptionContext(context)))
      } catch (error) {
        if ((error as Error).name !== 'InvalidCiphertextException') throw error
        throw new EnvelopeError('does_not_open', { cause: error })
      }
    },
  }
}

/** The service writes this into its trail in the clear, so it names no tenant. */
function encryptionContext(context: Buffer): Record<string, string> {
  return { moothall: createHash('sha256').update(context).digest('base64url') }
}

/** The service through its own client, which is loaded only where a key of it is configured. */
export function awsKms(): Kms {
  const opened = open()
  opened.catch(() => {}) // told to whoever uses it
  return {
    async encrypt(KeyId, Plaintext, EncryptionContext) {
      const { client, EncryptCommand } = await opened
      const { CiphertextBlob } = await client.send(new EncryptCommand({ KeyId, Plaintext, EncryptionContext }))
      return answered(CiphertextBlob)
    },
    async decrypt(KeyId, CiphertextBlob, EncryptionContext) {
      const { client, DecryptCommand } = await opened
      const { Plaintext } = await client.send(new DecryptCommand({ KeyId, CiphertextBlob, EncryptionContext }))
      return answered(Plaintext)
    },
  }
}

async function open() {
  const { KMSClient, EncryptCommand, DecryptCommand } = await import('@aws-sdk/client-kms')
  const client: KMSClient = new KMSClient({ maxAttempts: 3, requestHandler: TIMEOUTS })
  return { client, EncryptCommand, DecryptCommand }
}

function answered(bytes: Uint8Array | undefined): Uint8Array {
  if (!bytes) throw new Error('the key service answered without a key')
  return bytes
}
