import { hasScope, meets } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'
import { mayHost, visibleRooms } from '../room/access.ts'

/** Links are shown to those who may revoke them: hosts of the room and owners of its space, acting for themselves. */
export function visibleLinks(context: Context): object {
  const { caller } = context
  if (!meets('participant', caller) || !hasScope('rooms:read', caller) || !mayHost(caller)) return NO_ROWS
  const { userId } = caller
  const leads = [
    { facilitatorId: userId },
    { participants: { some: { userId, cofacilitator: true } } },
    { space: { members: { some: { userId, role: 'owner' } } } },
  ]
  return { room: { AND: [visibleRooms({ caller }), { OR: leads }] } }
}
