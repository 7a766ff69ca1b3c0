import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'
import { REVEAL_REASONS } from '../live/event-payloads.ts'
import { inSpace } from '../space/projection.ts'
import { ofStory } from '../story/projection.ts'

const storyId = nodeId('Story')
/** Decimal text: it outgrows what JSON numbers hold. */
const roundVersion = z.string().regex(/^\d+$/)
const vote = z.strictObject({ storyId, roundVersion, userId: nodeId('User') })

export const roundOpened = defineEvent('round.opened', {
  category: 'audit_only',
  description: 'A story was put on the table of a room, or with null the table was cleared.',
  payload: z.strictObject({ storyId: storyId.nullable(), roundVersion, revealed: z.boolean() }),
  projection: ofStory,
})

export const roundReset = defineEvent('round.reset', {
  category: 'audit_only',
  description: 'All votes on the story on the table were removed.',
  payload: z.strictObject({ storyId, roundVersion }),
  projection: ofStory,
})

export const roundRevealed = defineEvent('round.revealed', {
  category: 'activity',
  deliverable: true,
  description: 'The cards of a round were opened: by a host, by the vote that completed it, or by the timer.',
  payload: z.strictObject({
    storyId,
    roundVersion,
    reason: z.enum(REVEAL_REASONS),
    counted: z.int().min(0),
    average: z.number().nullable(),
    mode: z.array(z.string()),
    consensus: z.boolean(),
  }),
  projection: ofStory,
})

export const voteCast = defineEvent('vote.cast', {
  category: 'audit_only',
  description: 'Somebody voted or changed their vote. Which card, the record never says.',
  payload: vote,
  projection: inSpace,
})

export const voteCleared = defineEvent('vote.cleared', {
  category: 'audit_only',
  description: 'A vote was taken back, by its voter or because they became a spectator.',
  payload: vote,
  projection: inSpace,
})
