import { prisma } from '../../db/prisma.ts'
import { rowsById } from '../../db/rows.ts'
import { batchLoad } from '../../graphql/loads.ts'

export const storyById = batchLoad(rowsById('Story'))

/** A room's stories in their order. */
export const storiesOfRoom = batchLoad(async (ids: readonly string[]) => {
  const stories = await prisma.story.findMany({
    where: { roomId: { in: [...ids] } },
    orderBy: [{ position: 'asc' }, { id: 'asc' }],
  })
  return Map.groupBy(stories, ({ roomId }) => roomId)
})
