import { prisma } from '../../db/prisma.ts'
import { batchLoad } from '../../graphql/loads.ts'
import { visibleKeys } from './access.ts'

/** A key that the caller sees; null for any other. */
export const keyById = batchLoad(async (ids: readonly string[], { caller }) => {
  const keys = await prisma.apiKey.findMany({ where: { AND: [{ id: { in: [...ids] } }, visibleKeys(caller)] } })
  return new Map(keys.map((key) => [key.id, key]))
})
