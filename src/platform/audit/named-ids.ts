import { prisma } from '../../db/prisma.ts'
import { sqlText } from '../../db/sql.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { callerOf } from '../../graphql/builder.ts'
import type { Where } from '../../graphql/comparators.ts'
import type { Context } from '../../graphql/context.ts'
import { isNodeName, type NodeName } from '../../graphql/ids.ts'

type Rows = { findMany: (query: never) => PromiseLike<readonly { id: string }[]> }
type Sight = { model: Rows; visible: (context: Context) => object }

const sights = new Map<NodeName, Sight>()

/** Called once a type by its body: how a filter finds out whether an id that it names is the caller's to see. */
export function registerSight(type: NodeName, sight: Sight): void {
  sights.set(type, sight)
}

/** Where a filter's conditions name a node: its column in Prisma and in SQL, and its type. */
const COLUMNS: Record<string, { column: string; type: NodeName }> = {
  actorUserId: { column: 'actor_user_id', type: 'User' },
  spaceId: { column: 'space_id', type: 'Space' },
  roomId: { column: 'room_id', type: 'Room' },
  projectId: { column: 'project_id', type: 'Project' },
}

/** Ids by the column that they are compared with, and their type. */
type Named = Map<string, { column: string; type: NodeName; ids: Set<string> }>

/**
 * Whether all that a filter names is there and the caller's to see (PLAT-20). What is gone is known by the rows that tell
 * of it, of which `readable` are the caller's.
 */
export async function knowsIdsOf(
  where: Where | null | undefined,
  readable: Prisma.AuditEventWhereInput,
  context: Context,
): Promise<boolean> {
  const named: Named = new Map()
  collect(where, named)
  for (const { column, type, ids } of named.values()) {
    const seen = await seenOf(type, [...ids], readable, context)
    const rest = [...ids].filter((id) => !seen.has(id))
    if (rest.length === 0) continue
    const told = await toldOf({ column, type, ids: rest }, readable, context)
    if (rest.some((id) => !told.has(id))) return false
  }
  return true
}

/** Walks the conditions that the filter's comparators made. */
function collect(where: unknown, named: Named): void {
  if (Array.isArray(where)) return where.forEach((each) => void collect(each, named))
  if (typeof where !== 'object' || where === null) return
  const { targetKind, targetId } = where as Where
  if (typeof targetId === 'string' && isNodeName(targetKind as string)) {
    add(named, 'target_id', targetKind as NodeName, [targetId])
    return
  }
  for (const [key, condition] of Object.entries(where)) {
    const known = COLUMNS[key]
    if (known) add(named, known.column, known.type, idsOf(condition))
    else collect(condition, named)
  }
}

function idsOf(condition: unknown): string[] {
  if (typeof condition !== 'object' || condition === null) return []
  const { equals, in: list } = condition as { equals?: unknown; in?: unknown }
  return [equals, list].flat().filter((id) => typeof id === 'string')
}

function add(named: Named, column: string, type: NodeName, ids: readonly string[]): void {
  if (ids.length === 0) return
  const key = `${column} ${type}`
  const known = named.get(key) ?? { column, type, ids: new Set<string>() }
  for (const id of ids) known.ids.add(id)
  named.set(key, known)
}

/** Whoever reads all of the log learns by an id of the org no more than that it is one. */
async function seenOf(
  type: NodeName,
  ids: readonly string[],
  readable: Prisma.AuditEventWhereInput,
  context: Context,
): Promise<ReadonlySet<string>> {
  const sight = sights.get(type)
  if (!sight) return new Set()
  const visible = Object.keys(readable).length === 0 ? {} : sight.visible(context)
  const where = { AND: [{ id: { in: ids } }, visible] }
  const rows = await sight.model.findMany({ where, select: { id: true } } as never)
  return new Set(rows.map(({ id }) => id))
}

/** Of each id one activity that names it stands for the others: they happened in the same place. */
async function toldOf(
  { column, type, ids }: { column: string; type: NodeName; ids: readonly string[] },
  readable: Prisma.AuditEventWhereInput,
  context: Context,
): Promise<ReadonlySet<string>> {
  const { orgId } = callerOf(context)
  const ofKind = column === 'target_id' ? 'AND e.target_kind = $3' : ''
  const rows = await sqlText<{ id: string; event_id: string }>(
    `SELECT named.id, event.id AS event_id FROM unnest($2::uuid[]) AS named (id), LATERAL (
       SELECT e.id FROM platform.audit_events AS e WHERE e.org_id = $1 AND e.${column} = named.id ${ofKind}
       ORDER BY e.category = 'activity' DESC, e.private_user_id NULLS FIRST LIMIT 1) AS event`,
    [orgId, ids, ...(ofKind && [type])],
  )
  const eventIds = rows.map(({ event_id }) => event_id)
  const where = { AND: [{ orgId, id: { in: eventIds } }, readable] }
  const events = await prisma.auditEvent.findMany({ where, select: { id: true } })
  const readableIds = new Set(events.map(({ id }) => id))
  return new Set(rows.filter(({ event_id }) => readableIds.has(event_id)).map(({ id }) => id))
}
