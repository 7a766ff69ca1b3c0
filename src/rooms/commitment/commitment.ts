/** What somebody says about a commitment in a standup. */
export const COMMITMENT_ANSWERS = ['LANDED', 'DROPPED', 'NOT_YET'] as const
export type CommitmentAnswer = (typeof COMMITMENT_ANSWERS)[number]

/** A commitment's columns, as the API and live events have them. */
export type CommitmentColumns = {
  orgId: string
  id: string
  spaceId: string
  userId: string
  text: string
  openedRoomId: string | null
  closedRoomId: string | null
  carriedRoomId: string | null
  closedAt: string | null
  closedReason: string | null
  carried: number
  createdAt: string
  updatedAt: string
}

/** Carried into so many standups it shows as stuck (ROOM-105). */
const STUCK = 2
export const isStuck = ({ carried }: Pick<CommitmentColumns, 'carried'>): boolean => carried >= STUCK
