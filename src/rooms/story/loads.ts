import { prisma } from '../../db/prisma.ts'
import { batchLoad } from '../../graphql/loads.ts'

export const storyById = batchLoad(async (ids: readonly string[]) => {
  const stories = await prisma.story.findMany({ where: { id: { in: [...ids] } } })
  return new Map(stories.map((story) => [story.id, story]))
})

/** A room's stories in their order. */
export const storiesOfRoom = batchLoad(async (ids: readonly string[]) => {
  const stories = await prisma.story.findMany({
    where: { roomId: { in: [...ids] } },
    orderBy: [{ position: 'asc' }, { id: 'asc' }],
  })
  return Map.groupBy(stories, ({ roomId }) => roomId)
})
