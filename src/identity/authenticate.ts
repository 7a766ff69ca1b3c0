import { authenticateKey } from './api-key/authenticate-key.ts'
import { isKey } from './api-key/secret.ts'
import { type Authenticated, authenticateSession } from './session/authenticate.ts'

export type { Authenticated }

/**
 * Who calls with a token, or null when it does not hold (ID-1). A fault on the way throws, and is never "nobody". Tries of
 * keys count against the address that they come from.
 */
export async function authenticate(token: string, address: string): Promise<Authenticated | null> {
  if (!isKey(token)) return authenticateSession(token)
  const held = await authenticateKey(token, address)
  return held && { ...held, csrfHash: null }
}
