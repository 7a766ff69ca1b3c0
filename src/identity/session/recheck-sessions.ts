import type { Caller } from '../../graphql/caller.ts'
import { identitySettings } from '../settings.ts'
import { findStandings } from './preauth.ts'
import { callerFrom } from './standing.ts'

/** A credential that holds now: how far it reaches, and when it ends if it is not used again; null: at no set time. */
export type Held = { caller: Caller; endsAt: Date | null }

/** Which of these sessions still hold, in one statement however many there are (PLAT-33). The others are missing. */
export async function recheckSessions(sessionIds: readonly string[]): Promise<Map<string, Held>> {
  if (sessionIds.length === 0) return new Map()
  const rows = await findStandings(sessionIds, identitySettings().sessionLife)
  return new Map(rows.map((row) => [row.session_id, { caller: callerFrom(row), endsAt: row.ends_at }]))
}
