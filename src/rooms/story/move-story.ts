import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { requireActivePoker } from '../poker/access.ts'
import { change, fact, noChange } from '../room/change.ts'
import { type LockedRoom, requireHost } from '../room/lock-room.ts'
import type { StoryChange } from './add-story.ts'
import { storyMoved } from './events.ts'
import { lockRoomOfStory } from './find-story.ts'
import { type Placed, planMove } from './position.ts'

export type MoveStory = { id: string; afterId?: string | null | undefined }

/** Moves a story behind another one of its room, or to the front (ROOM-59). Moves wait for each other at the room's lock. */
export async function moveStory(caller: UserCaller, { id, afterId = null }: MoveStory): Promise<StoryChange> {
  const { room } = await lockRoomOfStory(caller, id)
  requireHost(caller, room)
  requireActivePoker(room)
  const stories = await sql<Placed>`
    SELECT id, position FROM rooms.stories WHERE org_id = ${room.orgId} AND room_id = ${room.id} ORDER BY position, id`
  if (afterId !== null && !stories.some((story) => story.id === afterId)) throw new NotFoundError('afterId')

  const move = planMove(stories, id, afterId)
  if (move === null) return { ...noChange(room), storyId: id }

  const placed = 'positions' in move ? move.positions : [{ id, position: move.position }]
  const positions = placed.map((story) => ({ storyId: story.id, position: story.position }))
  const told = fact(storyMoved, { storyId: id }, { kind: 'Story', id })
  const [, changed] = await Promise.all([
    place(room, placed),
    change(caller, room, [{ type: 'StoriesReordered', payload: { positions }, fact: told }]),
  ])
  return { ...changed, storyId: id }
}

async function place({ orgId }: LockedRoom, placed: readonly Placed[]): Promise<void> {
  await sql`
    UPDATE rooms.stories AS s SET position = placed.position
    FROM unnest(${placed.map(({ id }) => id)}::uuid[], ${placed.map(({ position }) => position)}::float8[])
      AS placed (id, position)
    WHERE s.org_id = ${orgId} AND s.id = placed.id`
}
