import type { Prisma } from '../../generated/prisma/client.ts'
import { type Caller, meets } from '../../graphql/caller.ts'

/**
 * Which rows of a type a caller may read in the activity feed (PLAT-15), as a condition on `audit_events`; null: none.
 * Types that share one function are read with one condition.
 */
export type Readers = (caller: Caller) => Prisma.AuditEventWhereInput | null

/** What belongs to the org as a whole: for whoever reads the org's shared things. */
export const orgReaders: Readers = (caller) =>
  meets('viewer', caller) ? { spaceId: null, roomId: null, projectId: null, ticketId: null } : null

/** What the feed never shows. */
export const nobody: Readers = () => null
