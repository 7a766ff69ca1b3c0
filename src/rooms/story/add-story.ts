import { prisma } from '../../db/prisma.ts'
import { sqlOne } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { requireActivePoker } from '../poker/access.ts'
import { change, fact, type RoomChange } from '../room/change.ts'
import { type LockedRoom, lockRoom } from '../room/lock-room.ts'
import { requireAuthor } from './access.ts'
import { storyAdded } from './events.ts'
import { appendedPosition } from './position.ts'
import { requireName, type StoryText } from './text.ts'

const STORIES_MAX = 500

export type AddStory = { roomId: string } & { [K in keyof StoryText]?: string | undefined }
export type StoryChange = RoomChange & { readonly storyId: string }

/** Adds a story behind the last one (ROOM-58, 59). */
export async function addStory(caller: UserCaller, { roomId, ...given }: AddStory): Promise<StoryChange> {
  const room = await lockRoom(caller, roomId)
  requireAuthor(room)
  requireActivePoker(room)
  const text = { title: given.title ?? '', notes: given.notes ?? '', ref: given.ref ?? '' }
  requireName(text)

  const position = await nextPosition(room)
  const story = await prisma.story.create({
    data: { orgId: room.orgId, roomId, ...text, position, createdById: caller.userId },
  })
  const added = fact(storyAdded, { storyId: story.id }, { kind: 'Story', id: story.id })
  return {
    ...(await change(caller, room, [{ type: 'StoryAdded', payload: { story }, fact: added }])),
    storyId: story.id,
  }
}

async function nextPosition({ orgId, id }: LockedRoom): Promise<number> {
  const { count, last } = await sqlOne<{ count: number; last: number | null }>`
    SELECT count(*)::int AS count, max(position) AS last FROM rooms.stories WHERE org_id = ${orgId} AND room_id = ${id}`
  if (count >= STORIES_MAX) throw new LimitReachedError(STORIES_MAX)
  return appendedPosition(last)
}
