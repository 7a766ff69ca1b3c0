import { findKeyStandings } from '../session/preauth.ts'
import type { Held } from '../session/recheck-sessions.ts'
import { callerOfKey } from './principal.ts'

/** Which of these keys still hold, in one statement however many there are; the others are missing. */
export async function recheckKeys(keys: readonly { orgId: string; keyId: string }[]): Promise<Map<string, Held>> {
  if (keys.length === 0) return new Map()
  const rows = await findKeyStandings(keys)
  return new Map(rows.map((row) => [row.key_id, { caller: callerOfKey(row), endsAt: row.expires_at }]))
}
