import { type Caller, meets } from '../../graphql/caller.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'

/**
 * Which sessions a caller may see and end, as a condition: one's own, and for admins those whose active org is theirs
 * (ID-18). An embedded session is one meeting's window into a person's account: it knows itself alone (ID-4).
 */
export function reachableSessions(caller: Caller) {
  const ofOrg = { orgId: caller.orgId }
  if (caller.kind !== 'session') return meets('admin', caller) ? ofOrg : NO_ROWS
  if (caller.embedded) return { id: caller.sessionId }
  const own = { userId: caller.userId }
  return meets('admin', caller) ? { OR: [own, ofOrg] } : own
}

/** Address and user agent show to oneself alone (ID-10). */
export const seesOrigin = (caller: Caller | null, session: { userId: string }): boolean =>
  caller?.userId === session.userId
