import { createHash } from 'node:crypto'

/** What of a secret of full entropy is stored or compared. */
export const sha256 = (secret: string | Uint8Array): Buffer => createHash('sha256').update(secret).digest()
