import { prisma } from '../../db/prisma.ts'
import { callerOf } from '../../graphql/builder.ts'
import type { Context } from '../../graphql/context.ts'
import { userById } from '../../identity/index.ts'
import { writeCsv, yesOrNo } from './write-csv.ts'

const COLUMNS = ['name', 'yesterday', 'today', 'blockers', 'skipped'] as const

/** The entries of a room: who spoke, in their order, then the others as they wrote (ROOM-62). Being ready is no part of it. */
export async function standupTable(context: Context, { id: roomId }: { id: string }): Promise<string> {
  const entries = await prisma.standupEntry.findMany({
    where: { orgId: callerOf(context).orgId, roomId },
    orderBy: [{ speakOrder: { sort: 'asc', nulls: 'last' } }, { createdAt: 'asc' }, { userId: 'asc' }],
  })
  const rows = entries.map(async ({ userId, yesterday, today, blockers, skipped }) => {
    const name = (await userById(context, userId))?.displayName ?? ''
    return [name, yesterday, today, blockers, yesOrNo(skipped)]
  })
  return writeCsv(COLUMNS, await Promise.all(rows))
}
