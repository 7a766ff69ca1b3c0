import type { Prisma } from '../../generated/prisma/client.ts'
import { type Caller, meets } from '../../graphql/caller.ts'

/**
 * Which rows of a type a caller may read in the activity feed (PLAT-15), as a condition on `audit_events`; null: none.
 * Types that share one function are read with one condition.
 */
export type Readers = (caller: Caller) => Prisma.AuditEventWhereInput | null

const PLACES = ['spaceId', 'roomId', 'projectId', 'ticketId'] as const
type Place = (typeof PLACES)[number]

const readersOf = new Map<Place, Readers>()

/** Called once by the body that has such places: whose the rows are that name one. Until then they are nobody's. */
export function registerPlace(place: Place, readers: Readers): void {
  readersOf.set(place, readers)
}

/**
 * A row belongs to whoever reads in every place that it names, and to whoever reads the org's shared things where it names
 * none.
 */
export const placeReaders: Readers = (caller) => {
  if (!meets('viewer', caller)) return null
  return {
    AND: PLACES.map((place) => {
      const there = readersOf.get(place)?.(caller)
      return there ? { OR: [{ [place]: null }, there] } : { [place]: null }
    }),
  }
}

/** What the feed never shows. */
export const nobody: Readers = () => null
