import { currentLane } from '../../db/operation.ts'
import { sql, sqlAs } from '../../db/sql.ts'
import type { Context } from '../../graphql/context.ts'
import { batchLoad } from '../../graphql/loads.ts'

/** That somebody voted; the card only where the operation may read it: revealed, or the operation's user's own. */
export type KnownVote = { storyId: string; userId: string; card: string | null }

/** The votes on a story, in the order they were cast. Row security leaves hidden cards out of `votes` (ROOM-75). */
export const votesOfStory = batchLoad(async (ids: readonly string[]) => {
  const votes = await sql<KnownVote>`
    SELECT s.id AS "storyId", voted.user_id AS "userId", v.card
    FROM unnest(${ids}::uuid[]) AS s (id)
    CROSS JOIN LATERAL rooms.round_voted(s.id) AS voted
    LEFT JOIN rooms.votes AS v ON v.story_id = s.id AND v.user_id = voted.user_id
    ORDER BY voted.cast_at, voted.user_id`
  return Map.groupBy(votes, ({ storyId }) => storyId)
})

/** The caller's own card on a story, null when they have not voted. */
export async function ownCard(context: Context, storyId: string): Promise<string | null> {
  const { caller } = context
  if (!caller?.userId) return null
  const vote = (await votesOfStory(context, storyId))?.find(({ userId }) => userId === caller.userId)
  if (!vote || vote.card !== null || currentLane().scope.userId !== undefined) return vote?.card ?? null
  // A rendering for many has no user, so it cannot know this card: one point read as the viewer (ROOM-173).
  const [own] = await sqlAs<{ card: string }>(caller.userId, OWN_CARD, [storyId, caller.userId])
  return own?.card ?? null
}

const OWN_CARD = 'SELECT card FROM rooms.votes WHERE story_id = $1 AND user_id = $2'
