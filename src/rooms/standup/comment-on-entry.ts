import { prisma } from '../../db/prisma.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { change, fact } from '../room/change.ts'
import { lockRoom } from '../room/lock-room.ts'
import { requireStandup } from './access.ts'
import { requireAnswered } from './entry-of-room.ts'
import { entryCommented } from './events.ts'
import { requireWritingMember } from './require-open-standup.ts'
import type { EntryChange } from './save-entry.ts'

const COMMENTS_MAX = 50

type CommentOnEntry = { roomId: string; entryUserId: string; text: string }
export type CommentChange = EntryChange & { readonly commentId: string }

/** Says something to an answered entry, also when the standup is done (ROOM-98). */
export async function commentOnEntry(
  caller: UserCaller,
  { roomId, entryUserId, text }: CommentOnEntry,
): Promise<CommentChange> {
  const room = await lockRoom(caller, roomId)
  requireWritingMember(room)
  requireStandup(room)
  await requireAnswered(room, entryUserId)
  const key = { orgId: room.orgId, roomId, entryUserId }
  if ((await prisma.standupEntryComment.count({ where: key })) >= COMMENTS_MAX) {
    throw new LimitReachedError(COMMENTS_MAX)
  }

  const comment = await prisma.standupEntryComment.create({ data: { ...key, authorId: caller.userId, text } })
  const told = fact(entryCommented, { entryUserId, commentId: comment.id, change: 'added' })
  const changed = await change(caller, room, [
    { type: 'EntryCommentAdded', payload: { entryUserId, comment }, fact: told },
  ])
  return { ...changed, userId: entryUserId, commentId: comment.id }
}
