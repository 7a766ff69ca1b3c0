import { prisma } from '../../db/prisma.ts'
import { batchLoad } from '../../graphql/loads.ts'

/** A person or agent whom the operation may see; null for anybody else, gone or foreign alike (ID-9). */
export const userById = batchLoad(async (ids: readonly string[]) => {
  const users = await prisma.user.findMany({ where: { id: { in: [...ids] } } })
  return new Map(users.map((user) => [user.id, user]))
})
