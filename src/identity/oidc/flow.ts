import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { derivedKeys } from '../derived-keys.ts'
import { identitySettings } from '../settings.ts'

const Flow = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  /** PKCE. */
  verifier: z.string(),
  /** Where the browser goes when all is done. */
  returnTo: z.string(),
  /** The session that began it so as to link; null: to sign in. */
  linkFor: z.uuid().nullable(),
  endsAt: z.int(),
})

/** One sign-in on its way through the provider. The browser keeps it, sealed, so any process can finish it. */
export type Flow = z.output<typeof Flow>

/** How long the provider may take. */
export const FLOW_LIFE = 10 * 60 * 1000

export const flowCookieName = (): string =>
  identitySettings().secureCookies ? '__Host-moothall_oidc' : 'moothall_oidc'

const PURPOSE = 'oidc flow'
const NONCE = 12
const TAG = 16

export function sealFlow(flow: Flow): string {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', derivedKeys(PURPOSE)[0], nonce)
  const sealed = [cipher.update(JSON.stringify(flow), 'utf8'), cipher.final()]
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString('base64url')
}

/** Null for what is not ours, was changed, or is over. */
export function openFlow(sealed: string | undefined): Flow | null {
  const bytes = Buffer.from(sealed ?? '', 'base64url')
  if (bytes.length <= NONCE + TAG) return null
  for (const key of derivedKeys(PURPOSE)) {
    const text = decrypt(key, bytes)
    if (text === null) continue
    const flow = Flow.parse(JSON.parse(text))
    return flow.endsAt > Date.now() ? flow : null
  }
  return null
}

function decrypt(key: Buffer, bytes: Buffer): string | null {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), { authTagLength: TAG })
    decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
    return decipher.update(bytes.subarray(NONCE + TAG), undefined, 'utf8') + decipher.final('utf8')
  } catch {
    return null // another key's, or nobody's
  }
}
