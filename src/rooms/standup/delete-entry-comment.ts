import { prisma } from '../../db/prisma.ts'
import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { change, fact } from '../room/change.ts'
import { lockRoom } from '../room/lock-room.ts'
import type { CommentChange } from './comment-on-entry.ts'
import { entryCommented } from './events.ts'

/** Takes the caller's own comment back, also when the standup is done (ROOM-98). */
export async function deleteEntryComment(caller: UserCaller, { id }: { id: string }): Promise<CommentChange> {
  const { orgId } = caller
  const where = { orgId_id: { orgId, id } }
  const found = await prisma.standupEntryComment.findUnique({ where, select: { roomId: true } })
  if (!found) throw new NotFoundError('id')
  const room = await lockRoom(caller, found.roomId, 'id')
  const comment = await prisma.standupEntryComment.findUnique({ where })
  if (!comment) throw new NotFoundError('id')
  if (comment.authorId !== caller.userId || room.me.viewer) {
    throw new ForbiddenError('Only its author takes a comment back.')
  }

  const { entryUserId } = comment
  await sql`DELETE FROM rooms.standup_entry_comments WHERE org_id = ${orgId} AND id = ${id}`
  const told = fact(entryCommented, { entryUserId, commentId: id, change: 'removed' })
  const changed = await change(caller, room, [
    { type: 'EntryCommentRemoved', payload: { entryUserId, commentId: id }, fact: told },
  ])
  return { ...changed, userId: entryUserId, commentId: id }
}
