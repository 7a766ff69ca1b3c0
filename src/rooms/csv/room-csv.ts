import { prisma } from '../../db/prisma.ts'
import { callerOf } from '../../graphql/builder.ts'
import type { Context } from '../../graphql/context.ts'
import { visibleRooms } from '../room/access.ts'
import { requireExporter } from './access.ts'
import { pokerTable } from './poker-table.ts'
import { standupTable } from './standup-table.ts'

/** A room as a table, in any phase; null for a room that is not the caller's to see, or of a kind that has no table. */
export async function roomCsv(context: Context, id: string): Promise<string | null> {
  const caller = callerOf(context)
  const room = await prisma.room.findUnique({
    where: { orgId_id: { orgId: caller.orgId, id }, ...visibleRooms(context) },
    select: { id: true, kind: true },
  })
  if (!room) return null
  requireExporter(caller)
  if (room.kind === 'poker') return pokerTable(context, room)
  return room.kind === 'standup' ? standupTable(context, room) : null
}
