import { currentLane } from '../../db/operation.ts'
import { sqlAs, sqlText } from '../../db/sql.ts'
import type { Context } from '../../graphql/context.ts'

type Asked = { userId: string }

const OF_ME = `SELECT from_user_id AS "userId" FROM rooms.standup_mentions
  WHERE room_id = $1 AND to_user_id = $2 ORDER BY created_at, from_user_id`
const BY_ME = `SELECT to_user_id AS "userId" FROM rooms.standup_mentions
  WHERE room_id = $1 AND from_user_id = $2 ORDER BY created_at, to_user_id`

/** Who asked the viewer for help in a room. */
export const mentionsOfViewer = (context: Context, roomId: string) => read(context, roomId, OF_ME)
/** Whom the viewer asked. */
export const mentionsByViewer = (context: Context, roomId: string) => read(context, roomId, BY_ME)

/** A rendering for many has no user, so it reads these as the viewer: they are nobody else's (ROOM-108). */
async function read({ caller }: Context, roomId: string, text: string): Promise<string[]> {
  if (!caller?.userId || caller.standing === 'GUEST') return []
  const values = [roomId, caller.userId]
  const rows =
    currentLane().scope.userId === undefined
      ? await sqlAs<Asked>(caller.userId, text, values)
      : await sqlText<Asked>(text, values)
  return rows.map(({ userId }) => userId)
}
