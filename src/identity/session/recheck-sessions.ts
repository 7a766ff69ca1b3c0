import type { Caller } from '../../graphql/caller.ts'
import { identitySettings } from '../settings.ts'
import { findStandings } from './preauth.ts'
import { callerFrom } from './standing.ts'

/** A session that holds now: how far it reaches, and when it ends if it is not used again. */
export type Held = { caller: Caller; endsAt: Date }

/** Which of these sessions still hold, in one statement however many there are (PLAT-33). The others are missing. */
export async function recheckSessions(sessionIds: readonly string[]): Promise<Map<string, Held>> {
  if (sessionIds.length === 0) return new Map()
  const rows = await findStandings(sessionIds, identitySettings().sessionLife)
  return new Map(rows.map((row) => [row.session_id, { caller: callerFrom(row), endsAt: row.ends_at }]))
}

/** The caller as they stand at this moment, for one event of a stream (ID-2); null when the session holds no longer. */
export async function refreshCaller({ sessionId }: Caller): Promise<Caller | null> {
  return (await recheckSessions([sessionId])).get(sessionId)?.caller ?? null
}
