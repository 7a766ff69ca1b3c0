import { prisma } from '../../db/prisma.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { requireActivePoker } from '../poker/access.ts'
import { change, fact, noChange } from '../room/change.ts'
import { requireHost } from '../room/lock-room.ts'
import type { StoryChange } from './add-story.ts'
import { storyUpdated } from './events.ts'
import { lockRoomOfStory } from './find-story.ts'
import { requireName, type StoryText } from './text.ts'

export type UpdateStory = { id: string } & { [K in keyof StoryText]?: string | undefined }

/** Changes what a story says; what is left out stays (ROOM-58). */
export async function updateStory(caller: UserCaller, { id, ...given }: UpdateStory): Promise<StoryChange> {
  const { room, story } = await lockRoomOfStory(caller, id)
  requireHost(caller, room)
  requireActivePoker(room)
  const text = { title: given.title ?? story.title, notes: given.notes ?? story.notes, ref: given.ref ?? story.ref }
  requireName(text)

  const fields = (['title', 'notes', 'ref'] as const).filter((field) => text[field] !== story[field])
  if (fields.length === 0) return { ...noChange(room), storyId: id }

  const updated = await prisma.story.update({ where: { orgId_id: { orgId: room.orgId, id } }, data: text })
  const told = fact(storyUpdated, { storyId: id, fields }, { kind: 'Story', id })
  return {
    ...(await change(caller, room, [{ type: 'StoryChanged', payload: { story: updated }, fact: told }])),
    storyId: id,
  }
}
