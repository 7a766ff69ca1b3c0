import { prisma } from '../../db/prisma.ts'
import { encodeId } from '../../graphql/ids.ts'
import type { Projection, RowsById } from '../../platform/index.ts'
import { inSpace } from '../space/projection.ts'

type StoryRow = { id: string; title: string; ref: string }

const stories: RowsById<StoryRow> = async (orgId, ids) => {
  const select = { id: true, title: true, ref: true } as const
  const found = await prisma.story.findMany({ where: { orgId, id: { in: [...ids] } }, select })
  return new Map(found.map((story) => [story.id, story]))
}

/** The event's payload, its space and its story; what people called the story is for the space alone (ROOM-183). */
export const ofStory: Projection<{ storyId: string | null }> = async (event, form, rows) => {
  const story = await rows.row(stories, event.payload.storyId)
  const shown = story && {
    id: encodeId('Story', story.id),
    ...(form === 'space' && { title: story.title, ref: story.ref }),
  }
  return { ...(await inSpace(event, form, rows)), story: shown }
}
