import type { Story } from '../../generated/prisma/client.ts'
import type { Context } from '../../graphql/context.ts'
import { userById } from '../../identity/index.ts'
import { type KnownVote, votesOfStory } from '../poker/loads.ts'
import { resultOfStory } from '../poker/story-result.ts'
import { storiesOfRoom } from '../story/loads.ts'
import { writeCsv, yesOrNo } from './write-csv.ts'

const COLUMNS = ['position', 'ref', 'title', 'notes', 'estimate', 'average', 'mode', 'consensus', 'votes'] as const

/** The stories of a room in their order, but quick votes that nobody named (ROOM-62, 65). */
export async function pokerTable(context: Context, { id }: { id: string }): Promise<string> {
  const stories = ((await storiesOfRoom(context, id)) ?? []).filter(({ quick }) => !quick)
  const rows = stories.map(async (story, at) => {
    const { ref, title, notes, estimate } = story
    return [at + 1, ref, title, notes, estimate, ...(await outcomeOf(context, story))]
  })
  return writeCsv(COLUMNS, await Promise.all(rows))
}

/** Empty until revealed, so that no hidden card gets out, the reader's own neither (ROOM-75). */
async function outcomeOf(context: Context, story: Story): Promise<(string | number | null)[]> {
  const result = await resultOfStory(context, story)
  if (!result) return ['', '', '', '']
  const votes = (await votesOfStory(context, story.id)) ?? []
  return [
    result.average,
    result.mode.join('; '),
    yesOrNo(result.consensus),
    (await Promise.all(votes.map((vote) => voteText(context, vote)))).join('; '),
  ]
}

/** Of guests too whose link is revoked, and of members who have left: their votes stay (ROOM-76). */
async function voteText(context: Context, { userId, card }: KnownVote): Promise<string> {
  return `${(await userById(context, userId))?.displayName ?? ''}: ${card ?? ''}`
}
