import type { Context } from '../../graphql/context.ts'
import { roomById } from '../room/loads.ts'
import { votesOfStory } from './loads.ts'
import { pokerConfigOf } from './poker-room.ts'
import { type RoundResult, roundResult } from './result.ts'

/** The result of a revealed story over its votes (ROOM-74); null while they are hidden. */
export async function resultOfStory(
  context: Context,
  story: { id: string; roomId: string; revealedAt: string | null },
): Promise<RoundResult | null> {
  if (story.revealedAt === null) return null
  const [room, votes] = await Promise.all([roomById(context, story.roomId), votesOfStory(context, story.id)])
  if (!room) return null
  const cards = (votes ?? []).map(({ card }) => card).filter((card) => card !== null)
  return roundResult(pokerConfigOf(room).deck, cards)
}
