import { prisma } from '../../db/prisma.ts'
import type { Story } from '../../generated/prisma/client.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { requireActivePoker } from '../poker/access.ts'
import { change, fact, type RoomChange, type Step } from '../room/change.ts'
import { type LockedRoom, lockRoom } from '../room/lock-room.ts'
import { requireAuthor } from './access.ts'
import { storyAdded } from './events.ts'
import { requirePlaces, shelfOf } from './limit.ts'
import { appendedPosition } from './position.ts'
import { requireName, type StoryText } from './text.ts'

export type AddStory = { roomId: string } & { [K in keyof StoryText]?: string | undefined }
export type StoryChange = RoomChange & { readonly storyId: string }

/** Adds a story behind the last one (ROOM-58, 59). */
export async function addStory(caller: UserCaller, { roomId, ...given }: AddStory): Promise<StoryChange> {
  const room = await lockRoom(caller, roomId)
  requireAuthor(room)
  requireActivePoker(room)
  const text = { title: given.title ?? '', notes: given.notes ?? '', ref: given.ref ?? '' }
  requireName(text)

  const story = await appendStory(caller, room, text)
  return { ...(await change(caller, room, [addedStep(story)])), storyId: story.id }
}

/** A new row behind the last one of a locked room. */
export async function appendStory(
  { userId }: UserCaller,
  room: LockedRoom,
  text: Partial<StoryText> & { quick?: boolean },
): Promise<Story> {
  const { count, last } = await shelfOf(room)
  requirePlaces(count, 1)
  return prisma.story.create({
    data: { orgId: room.orgId, roomId: room.id, ...text, position: appendedPosition(last), createdById: userId },
  })
}

export const addedStep = (story: Story): Step => ({
  type: 'StoryAdded',
  payload: { story },
  fact: fact(storyAdded, { storyId: story.id }, { kind: 'Story', id: story.id }),
})
