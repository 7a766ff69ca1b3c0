import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { requireActivePoker } from '../poker/access.ts'
import { openRound, withStory } from '../poker/open-round.ts'
import { change, fact, type Step } from '../room/change.ts'
import { requireHost } from '../room/lock-room.ts'
import type { StoryChange } from './add-story.ts'
import { storyDeleted } from './events.ts'
import { lockRoomOfStory } from './find-story.ts'

/** Deletes a story and its votes. From the table it leaves an empty one, in the next round (ROOM-60). */
export async function deleteStory(caller: UserCaller, { id }: { id: string }): Promise<StoryChange> {
  const { room } = await lockRoomOfStory(caller, id)
  requireHost(caller, room)
  requireActivePoker(room)

  const removed: Step = {
    type: 'StoryRemoved',
    payload: { storyId: id },
    fact: fact(storyDeleted, { storyId: id }, { kind: 'Story', id }),
  }
  const onTable = room.currentStoryId === id
  const steps = onTable ? [await openRound(withStory(room, null)), removed] : [removed]
  // The row goes last: as long as it lies on the table, its going would change the room by itself.
  const changed = await change(caller, room, steps)
  await sql`DELETE FROM rooms.stories WHERE org_id = ${room.orgId} AND id = ${id}`
  return { ...changed, storyId: id }
}
