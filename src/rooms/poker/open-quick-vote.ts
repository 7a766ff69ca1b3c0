import { sqlOne } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { change } from '../room/change.ts'
import { type LockedRoom, lockRoom, requireHost } from '../room/lock-room.ts'
import { addedStep, appendStory, type StoryChange } from '../story/add-story.ts'
import { timerStoppedStep } from '../timer/steps.ts'
import { requireActivePoker } from './access.ts'
import { openRound, withStory } from './open-round.ts'

/** Adds a story that nobody had to name and puts it on the table (ROOM-65). Named later, it is one like any other. */
export async function openQuickVote(caller: UserCaller, { roomId }: { roomId: string }): Promise<StoryChange> {
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  requireActivePoker(room)
  const story = await appendStory(caller, room, { title: await nextTitle(room), quick: true })
  const opened = await openRound(withStory(room, { id: story.id, revealedAt: null }))
  const changed = await change(caller, room, [...timerStoppedStep(room), addedStep(story), opened])
  return { ...changed, storyId: story.id }
}

/** Numbered on from the highest in the room, so that no two have one title. */
async function nextTitle({ orgId, id }: LockedRoom): Promise<string> {
  const { number } = await sqlOne<{ number: number }>`
    SELECT coalesce(max(substring(title FROM '^Quick vote ([0-9]{1,9})$')::integer), 0) + 1 AS number
    FROM rooms.stories WHERE org_id = ${orgId} AND room_id = ${id}`
  return `Quick vote ${number}`
}
