import type { UserCaller } from '../../graphql/caller.ts'
import { record } from '../../platform/index.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import { standupMentioned } from './events.ts'

/** Both ways, and of the asker alone: whom they asked is on nobody's record (ROOM-108). */
export const recordMention = (caller: UserCaller, { id: roomId, spaceId, spaceSlug }: LockedRoom): Promise<string> =>
  record(caller, standupMentioned, { spaceId, spaceSlug, roomId, privateUserId: caller.userId, payload: {} })
