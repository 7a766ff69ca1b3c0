import { prisma } from '../../db/prisma.ts'
import { rowsById } from '../../db/rows.ts'
import { sql } from '../../db/sql.ts'
import { batchLoad } from '../../graphql/loads.ts'

// What a room's fields read, batched over rooms and once an operation; a live rendering shares them among all its
// subscribers, so a room's state is read once a version (ROOM-173). Visibility was settled where the room was reached.

export type RoomPerson = {
  userId: string
  kind: 'member' | 'guest'
  spectator: boolean
  canVote: boolean
  present: boolean
}

export const roomById = batchLoad(rowsById('Room'))

/** Everybody the room is for (`room_people`). */
export const peopleOfRoom = batchLoad(async (ids: readonly string[]) => {
  const people = await sql<RoomPerson & { roomId: string }>`
    SELECT r.id AS "roomId", p.user_id AS "userId", p.kind, p.spectator, p.can_vote AS "canVote", p.present
    FROM unnest(${ids}::uuid[]) AS r (id), LATERAL rooms.room_people(r.id) AS p`
  return Map.groupBy(people, ({ roomId }) => roomId)
})

/** A live event carries what somebody was at its version; read from the room it is what they are now. */
export type Participant = {
  roomId: string
  userId: string
  joinedAt: string
  cofacilitator: boolean
  guest?: boolean
  spectator?: boolean
}

/** Who took part so far, in the order they came. */
export const participantsOfRoom = batchLoad(async (ids: readonly string[]) => {
  const rows: Participant[] = await prisma.roomParticipant.findMany({
    where: { roomId: { in: [...ids] } },
    orderBy: [{ joinedAt: 'asc' }, { userId: 'asc' }],
  })
  return Map.groupBy(rows, ({ roomId }) => roomId)
})
