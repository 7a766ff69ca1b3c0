import { sql } from '../../db/sql.ts'
import type { Story } from '../../generated/prisma/client.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { invalidInput } from '../../graphql/errors.ts'
import { requireActivePoker } from '../poker/access.ts'
import { change, fact, noChange, type RoomChange } from '../room/change.ts'
import { type LockedRoom, requireHost } from '../room/lock-room.ts'
import type { StoryChange } from './add-story.ts'
import { ESTIMATE_FAULT, isEstimate } from './estimate.ts'
import { storyEstimated } from './events.ts'
import { lockRoomOfStory } from './find-story.ts'
import { estimateTicket } from './ticket-estimates.ts'

export type EstimateStory = { id: string; estimate?: string | null | undefined; toTicket?: boolean | undefined }

/** Writes down what a story was estimated at, or clears it, whatever its round (ROOM-63). No vote is touched. */
export async function estimateStory(
  caller: UserCaller,
  { id, estimate = null, toTicket = false }: EstimateStory,
): Promise<StoryChange> {
  const { room, story } = await lockRoomOfStory(caller, id)
  requireHost(caller, room)
  requireActivePoker(room)
  if (estimate !== null && !isEstimate(room.config.deck, estimate)) throw invalidInput('estimate', ESTIMATE_FAULT)

  const changed = estimate === story.estimate ? noChange(room) : await write(caller, room, story, estimate)
  if (toTicket) await estimateTicket(caller, story.ref, estimate)
  return { ...changed, storyId: id }
}

async function write(
  caller: UserCaller,
  room: LockedRoom,
  { id, estimate: previous }: Story,
  estimate: string | null,
): Promise<RoomChange> {
  const told = fact(storyEstimated, { storyId: id, estimate, previous }, { kind: 'Story', id })
  const [, changed] = await Promise.all([
    sql`UPDATE rooms.stories SET estimate = ${estimate} WHERE org_id = ${room.orgId} AND id = ${id}`,
    change(caller, room, [{ type: 'StoryEstimated', payload: { storyId: id, estimate }, fact: told }]),
  ])
  return changed
}
