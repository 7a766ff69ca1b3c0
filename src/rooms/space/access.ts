import type { Context } from '../../graphql/context.ts'

const NONE = { id: { in: [] as string[] } }

/** The spaces whose content a caller sees: those they are a member of (ROOM-6). */
export function visibleSpaces({ caller, audience }: Pick<Context, 'caller' | 'audience'>): object {
  if (audience) return audience.of === 'members' ? { id: audience.spaceId } : NONE
  if (!caller || caller.standing === null || caller.standing === 'GUEST') return NONE
  return { members: { some: { userId: caller.userId } } }
}
