import { hasScope, meets, type UserCaller } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { ForbiddenError } from '../../graphql/errors.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'
import { actsAsOwner } from '../space/access.ts'
import type { LockedRoom } from './lock-room.ts'

/**
 * The rooms a caller sees: those of their spaces, for a guest the one of their link, for admins no others (ROOM-6). Row
 * security knows the org and a guest's room, not the space, so this condition stands in every way that leads to a room.
 */
export function visibleRooms({ caller, audience }: Pick<Context, 'caller' | 'audience'>): object {
  if (audience) return audience.of === 'guests' ? { id: audience.roomId } : { spaceId: audience.spaceId }
  if (!meets('user', caller) || !hasScope('rooms:read', caller)) return NO_ROWS
  if (caller.standing === 'GUEST') return { id: caller.roomId }
  return { space: { members: { some: { userId: caller.userId } } } }
}

/** The same for what belongs to a room. */
export const inVisibleRoom = (context: Pick<Context, 'caller' | 'audience'>): object => ({
  room: visibleRooms(context),
})

/** Who may lead: a human member who writes in the org, by themselves and not through a meeting client (ROOM-22, 40). */
export function mayHost(caller: UserCaller): boolean {
  return !caller.embedded && (caller.account === 'anonymous' || meets('member', caller))
}

/** An owner of the room's space, with the power of one. */
export const isSpaceOwner = (caller: UserCaller, { me }: LockedRoom): boolean => actsAsOwner(caller, me)

/** Facilitator or co-facilitator, while they may host at all. */
export function isHost(caller: UserCaller, room: LockedRoom): boolean {
  return mayHost(caller) && (room.facilitatorId === caller.userId || room.me.cofacilitator)
}

/** Handing the lead over and naming co-facilitators are the facilitator's alone (ROOM-40). */
export function requireFacilitator(caller: UserCaller, room: LockedRoom): void {
  if (mayHost(caller) && room.facilitatorId === caller.userId) return
  throw new ForbiddenError('Only the facilitator of the room may do that.')
}

/** Ending and reopening are for the owners of the space, too (ROOM-33). */
export function requireHostOrOwner(caller: UserCaller, room: LockedRoom): void {
  if (isHost(caller, room) || isSpaceOwner(caller, room)) return
  throw new ForbiddenError('Only the hosts of the room and the owners of its space may do that.')
}
