import { hasScope, meets, type UserCaller } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'

/** The spaces whose content a caller sees: those they are a member of (ROOM-6). */
export function visibleSpaces({ caller, audience }: Pick<Context, 'caller' | 'audience'>): object {
  if (audience) return audience.of === 'members' ? { id: audience.spaceId } : NO_ROWS
  if (!meets('participant', caller) || !hasScope('rooms:read', caller)) return NO_ROWS
  return { members: { some: { userId: caller.userId } } }
}

/** The same for what belongs to a space. */
export const inVisibleSpace = (context: Pick<Context, 'caller' | 'audience'>): object => ({
  space: visibleSpaces(context),
})

/** What an owner may do is for people who write in the org, by themselves and not through a meeting client (ROOM-22). */
export const actsAsOwner = (caller: UserCaller, { role }: { role: string | null }): boolean =>
  role === 'owner' && meets('member', caller)

/** Somebody of the org as a space sees them. */
export type Person = { account: string; orgRole: string | null }

/** Owners are registered people who write in the org: no agents, anonymous people or org viewers (ROOM-22). */
export const mayOwn = ({ account, orgRole }: Person): boolean =>
  account === 'registered' && orgRole !== null && orgRole !== 'viewer'
