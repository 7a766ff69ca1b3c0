import type { Prisma } from '../../generated/prisma/client.ts'
import { type Caller, meets } from '../../graphql/caller.ts'

/** Not `OR: []`: inside an AND Prisma takes that for true. */
const NONE: Prisma.AuditEventWhereInput = { id: { in: [] } }

/** Rows of the log that the caller may look up: all of the org's for its owners and admins (PLAT-15). */
export function visibleEvents(caller: Caller): Prisma.AuditEventWhereInput {
  return meets('admin', caller) ? {} : NONE
}
