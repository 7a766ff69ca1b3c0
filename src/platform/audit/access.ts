import type { Prisma } from '../../generated/prisma/client.ts'
import { type Caller, meets } from '../../graphql/caller.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'
import type { Readers } from './readers.ts'
import { eventTypes } from './registry.ts'

/**
 * The activity that a caller may read (PLAT-15): of each type what its readers give, and of rows about somebody's private
 * things their own. One condition, so a page or a stretch of the feed is judged by one statement.
 */
export function readableActivity(caller: Caller): Prisma.AuditEventWhereInput {
  const namesOf = new Map<Readers, string[]>()
  for (const { name, category, readers } of eventTypes()) {
    if (category === 'activity') namesOf.set(readers, [...(namesOf.get(readers) ?? []), name])
  }
  const groups = [...namesOf].flatMap(([readers, names]) => {
    const where = readers(caller)
    return where ? [{ AND: [{ eventType: { in: names } }, where] }] : []
  })
  if (groups.length === 0) return NO_ROWS
  const own = caller.userId === undefined ? [] : [{ privateUserId: caller.userId }]
  return { category: 'activity', AND: [{ OR: [{ privateUserId: null }, ...own] }, { OR: groups }] }
}

/** Rows of the log that the caller may look up: all of the org's for its owners and admins, else their activity. */
export function visibleEvents(caller: Caller): Prisma.AuditEventWhereInput {
  return meets('admin', caller) ? {} : readableActivity(caller)
}
