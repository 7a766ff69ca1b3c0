import { prisma } from '../../db/prisma.ts'
import { batchLoad } from '../../graphql/loads.ts'

export const spaceById = batchLoad(async (ids: readonly string[]) => {
  const spaces = await prisma.space.findMany({ where: { id: { in: [...ids] } } })
  return new Map(spaces.map((space) => [space.id, space]))
})
