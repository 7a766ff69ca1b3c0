import { prisma } from '../../db/prisma.ts'
import { sql } from '../../db/sql.ts'
import type { Context } from '../../graphql/context.ts'
import { batchLoad } from '../../graphql/loads.ts'
import type { EntryColumns, Turn } from '../live/event-payloads.ts'

// What a standup's fields read, each of whole rooms at once, so that a snapshot costs the same with any number of entries
// (ROOM-173). Visibility was settled where the room was reached.

/** Who has an entry in the room, in the order they came by one. */
export const entriesOfRoom = batchLoad(async (ids: readonly string[]) => {
  const entries: EntryColumns[] = await prisma.standupEntry.findMany({
    where: { roomId: { in: [...ids] } },
    orderBy: [{ createdAt: 'asc' }, { userId: 'asc' }],
  })
  return Map.groupBy(entries, ({ roomId }) => roomId)
})

export async function entryOf(context: Context, roomId: string, userId: string): Promise<EntryColumns | null> {
  return (await entriesOfRoom(context, roomId))?.find((entry) => entry.userId === userId) ?? null
}

const commentsOfRoom = batchLoad(async (ids: readonly string[]) => {
  const comments = await prisma.standupEntryComment.findMany({
    where: { roomId: { in: [...ids] } },
    orderBy: { id: 'asc' },
  })
  return Map.groupBy(comments, ({ roomId }) => roomId)
})

/** What was said to an entry, in the order it came. */
export async function commentsOfEntry(context: Context, { roomId, userId }: { roomId: string; userId: string }) {
  return (await commentsOfRoom(context, roomId))?.filter(({ entryUserId }) => entryUserId === userId) ?? []
}

type Reaction = { roomId: string; entryUserId: string; emoji: string; userIds: string[] }

const reactionsOfRoom = batchLoad(async (ids: readonly string[]) => {
  const reactions = await sql<Reaction>`
    SELECT room_id AS "roomId", entry_user_id AS "entryUserId", emoji, array_agg(user_id ORDER BY user_id) AS "userIds"
    FROM rooms.standup_entry_reactions WHERE room_id = ANY (${ids}::uuid[])
    GROUP BY org_id, room_id, entry_user_id, emoji ORDER BY min(created_at), emoji`
  return Map.groupBy(reactions, ({ roomId }) => roomId)
})

export type ReactionCount = { roomId: string; entryUserId: string; emoji: string; count: number }

/** How many reacted to an entry by which emoji, the first to come first. */
export async function reactionsToEntry(
  context: Context,
  { roomId, userId }: { roomId: string; userId: string },
): Promise<ReactionCount[]> {
  const reactions = (await reactionsOfRoom(context, roomId))?.filter(({ entryUserId }) => entryUserId === userId) ?? []
  return reactions.map(({ userIds, ...reaction }) => ({ ...reaction, count: userIds.length }))
}

/** Whether the viewer is among them. Who reacted is no secret, so a rendering for many knows it of each. */
export async function reactedMyself(context: Context, { roomId, entryUserId, emoji }: ReactionCount): Promise<boolean> {
  const viewer = context.caller?.userId
  const reaction = (await reactionsOfRoom(context, roomId))?.find(
    (each) => each.entryUserId === entryUserId && each.emoji === emoji,
  )
  return viewer != null && (reaction?.userIds.includes(viewer) ?? false)
}

/** Who speaks in which order; nobody before the speaking began. */
export async function turnsOfRoom(context: Context, roomId: string): Promise<Turn[]> {
  const inOrder = (await entriesOfRoom(context, roomId))?.filter(({ speakOrder }) => speakOrder !== null) ?? []
  const byPlace = inOrder.toSorted(
    (a, b) => (a.speakOrder ?? 0) - (b.speakOrder ?? 0) || (a.userId < b.userId ? -1 : 1),
  )
  return byPlace.map(({ userId, spokenAt, skipped }) => ({ userId, spoken: spokenAt !== null, skipped }))
}
