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

/** Changes what a story says; what is left out stays (ROOM-58). A quick vote that gets a name is one no longer (ROOM-65). */
export async function updateStory(caller: UserCaller, { id, ...given }: UpdateStory): Promise<StoryChange> {
  const { room, story } = await lockRoomOfStory(caller, id)
  requireHost(caller, room)
  requireActivePoker(room)
  const text = { title: given.title ?? story.title, notes: given.notes ?? story.notes, ref: given.ref ?? story.ref }
  requireName(text)

  const fields = (['title', 'notes', 'ref'] as const).filter((field) => text[field] !== story[field])
  if (fields.length === 0) return { ...noChange(room), storyId: id }

  const quick = story.quick && text.title === story.title && text.ref === story.ref
  const where = { orgId_id: { orgId: room.orgId, id } }
  const updated = await prisma.story.update({ where, data: { ...text, quick } })
  const told = fact(storyUpdated, { storyId: id, fields }, { kind: 'Story', id })
  return {
    ...(await change(caller, room, [{ type: 'StoryChanged', payload: { story: updated }, fact: told }])),
    storyId: id,
  }
}
