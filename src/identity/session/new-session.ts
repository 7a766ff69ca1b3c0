import type { SessionCaller } from '../../graphql/caller.ts'
import { newId } from '../../lib/type-id.ts'
import { standingOfRole } from './standing.ts'
import { useMembership } from './use-membership.ts'

type Somebody = Pick<SessionCaller, 'orgId' | 'userId' | 'account' | 'standing'> &
  Partial<Pick<SessionCaller, 'embedded' | 'roomId'>>

/** Who somebody is by a session that is about to be opened. */
export const newSession = (somebody: Somebody): SessionCaller => ({
  kind: 'session',
  sessionId: newId(),
  embedded: false,
  ...somebody,
})

/** The same of a member, in the org that becomes the one used last. Part of a sign-in that holds the membership. */
export async function newMemberSession(orgId: string, userId: string): Promise<SessionCaller> {
  const standing = standingOfRole(await useMembership(orgId, userId))
  return newSession({ orgId, userId, account: 'registered', standing })
}
