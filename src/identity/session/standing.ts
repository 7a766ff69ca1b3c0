import type { SessionCaller } from '../../graphql/caller.ts'
import type { StandingRow } from './preauth.ts'

type Standing = NonNullable<SessionCaller['standing']>

/** What a membership's role lets a person do in its org. */
export const standingOfRole = (role: string): Standing => role.toUpperCase() as Standing

/** ID-2: an embedded session has participant power only, whoever the person is (ID-4). */
function standingOf({ account, embedded, role }: Pick<StandingRow, 'account' | 'embedded' | 'role'>): Standing | null {
  if (account === 'guest') return 'GUEST'
  if (account === 'anonymous') return 'PARTICIPANT'
  if (role === null) return null
  return embedded ? 'PARTICIPANT' : standingOfRole(role)
}

export function callerFrom(row: StandingRow): SessionCaller {
  return {
    kind: 'session',
    orgId: row.org_id,
    userId: row.user_id,
    sessionId: row.session_id,
    account: row.account,
    standing: standingOf(row),
    embedded: row.embedded,
    roomId: row.room_id ?? undefined,
  }
}
