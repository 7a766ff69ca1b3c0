import { NIL } from 'uuid'
import { prisma } from '../../db/prisma.ts'
import { sql, sqlOne } from '../../db/sql.ts'
import type { Where } from '../../graphql/comparators.ts'
import type { Position } from './cursor.ts'

/** Where a reader goes on. `since`: what that snapshot saw is no news, whichever side of the position it is on. */
export type FeedPlace = {
  readonly position: Position
  readonly since?: { readonly era: number; readonly snapshot: string }
}

export type FeedPage = {
  /** Positions of the rows that match, in feed order. */
  rows: Position[]
  /** Where the next page goes on. It may lie behind the last row: what did not match is passed over. */
  place: FeedPlace
  /** This snapshot has nothing more to give beyond `place`, now or when older transactions end. */
  caughtUp: boolean
  /** Stopped before the end of what can be seen. */
  hasMore: boolean
  /** When the oldest row was written that an older transaction still hides. */
  hiddenSince: Date | null
}

/** Rows looked through at once where a filter decides, and how often in one operation. */
const SCAN = 500
const SCANS_MAX = 20
const LIST_MAX = 20

/** The place from which a reader gets what is committed from now on, and nothing else. */
export async function placeOfNow(): Promise<FeedPlace> {
  const { era, xact, snapshot } = await sqlOne<{ era: number; xact: string; snapshot: string }>`
    SELECT platform.audit_era() AS era, pg_snapshot_xmin(now)::text AS xact, now::text AS snapshot
    FROM pg_current_snapshot() AS now`
  return { position: { era, xact, id: NIL }, since: { era, snapshot } }
}

/**
 * The next rows of the feed, up to `first` (PLAT-17). A row shows when every transaction that began before its own has
 * ended: then nothing can come in before it any more, so what is ordered by transaction is never skipped and never
 * repeated. Read in one snapshot.
 */
export async function readFeed(orgId: string, from: FeedPlace, first: number, where: Where | null): Promise<FeedPage> {
  const size = where ? SCAN : first + 1
  const found: Position[] = []
  let place = from
  for (let scans = 0; scans < SCANS_MAX; scans++) {
    const seen = await scan(orgId, place, size)
    const matches = where ? await matching(orgId, seen, where) : undefined
    for (const row of seen) {
      if (matches && !matches.has(row.id)) continue
      if (found.length === first)
        return { rows: found, place: at(place, found), caughtUp: false, hasMore: true, hiddenSince: null }
      found.push(row)
    }
    place = at(place, seen)
    if (seen.length < size) {
      const hiddenSince = await oldestHidden(orgId, place)
      return { rows: found, place, caughtUp: hiddenSince === null, hasMore: false, hiddenSince }
    }
  }
  return { rows: found, place, caughtUp: false, hasMore: true, hiddenSince: null }
}

const at = (place: FeedPlace, rows: readonly Position[]): FeedPlace => ({
  ...place,
  position: rows.at(-1) ?? place.position,
})

function scan(orgId: string, { position: { era, xact, id }, since }: FeedPlace, limit: number): Promise<Position[]> {
  return sql<Position>`
    SELECT id, era, xact_id::text AS xact FROM platform.audit_events
    WHERE org_id = ${orgId} AND (era, xact_id, id) > (${era}::integer, ${xact}::xid8, ${id}::uuid)
      AND (xact_id < (SELECT pg_snapshot_xmin(pg_current_snapshot())) OR era < (SELECT platform.audit_era()))
      AND (era > ${since?.era}::integer OR pg_visible_in_snapshot(xact_id, ${since?.snapshot}::pg_snapshot) IS NOT TRUE)
    ORDER BY era, xact_id, id LIMIT ${limit}`
}

/**
 * Which of these rows a condition holds for. They were recorded at about one time, so their ids are near each other: a
 * range finds them at the cost of few others, where a long list would be compared with every row of a prepared plan.
 */
async function matching(orgId: string, rows: readonly Position[], where: Where): Promise<ReadonlySet<string>> {
  const ids = rows.map(({ id }) => id).sort()
  if (ids.length === 0) return new Set()
  const between = ids.length > LIST_MAX ? { gte: ids[0]!, lte: ids.at(-1)! } : { in: ids }
  const found = await prisma.auditEvent.findMany({
    where: { AND: [{ orgId, id: between }, where] },
    select: { id: true },
  })
  return new Set(found.map(({ id }) => id))
}

/** Rows that are committed and not yet shown; when they are, no NOTIFY will say so (PLAT-19). */
async function oldestHidden(orgId: string, { since }: FeedPlace): Promise<Date | null> {
  const { oldest } = await sqlOne<{ oldest: Date | null }>`
    SELECT min(created_at) AS oldest FROM platform.audit_events
    WHERE org_id = ${orgId} AND era = platform.audit_era() AND xact_id >= pg_snapshot_xmin(pg_current_snapshot())
      AND (era > ${since?.era}::integer OR pg_visible_in_snapshot(xact_id, ${since?.snapshot}::pg_snapshot) IS NOT TRUE)`
  return oldest
}
