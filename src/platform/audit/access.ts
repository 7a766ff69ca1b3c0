import type { Prisma } from '../../generated/prisma/client.ts'
import { type Caller, meets } from '../../graphql/caller.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'

/** Rows of the log that the caller may look up: all of the org's for its owners and admins (PLAT-15). */
export function visibleEvents(caller: Caller): Prisma.AuditEventWhereInput {
  return meets('admin', caller) ? {} : NO_ROWS
}
