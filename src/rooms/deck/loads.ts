import { prisma } from '../../db/prisma.ts'
import { batchLoad } from '../../graphql/loads.ts'

/** A space's own decks by name, at most 50. */
export const decksOfSpace = batchLoad(async (ids: readonly string[]) => {
  const decks = await prisma.deck.findMany({
    where: { spaceId: { in: [...ids] } },
    orderBy: [{ name: 'asc' }, { id: 'asc' }],
  })
  return Map.groupBy(decks, ({ spaceId }) => spaceId)
})
