import { builder, callerOf } from '../../graphql/builder.ts'
import { inVisibleRoom } from '../room/access.ts'
import { resultOfStory } from '../poker/story-result.ts'
import { votesOfStory } from '../poker/loads.ts'
import { RoundResultType, VoteType } from '../poker/types.ts'

builder.prismaNode('Story', {
  description: 'Something to estimate in a poker room.',
  id: { resolve: (story) => story.id },
  nullable: true,
  findUnique: (id, context) => ({ orgId_id: { orgId: callerOf(context).orgId, id }, ...inVisibleRoom(context) }),
  fields: (t) => ({
    title: t.exposeString('title'),
    notes: t.exposeString('notes'),
    ref: t.exposeString('ref', { description: 'What it is called elsewhere, such as a ticket’s key; empty for none.' }),
    position: t.exposeFloat('position', { description: 'Order within the room, ties broken by id.' }),
    estimate: t.exposeString('estimate', { nullable: true }),
    quick: t.exposeBoolean('quick', { description: 'Made by a quick vote and not yet named.' }),
    revealedAt: t.expose('revealedAt', { type: 'DateTime', nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    votes: t.field({
      type: [VoteType],
      description: 'Who voted. Cards show once the round is revealed; one’s own always.',
      resolve: async (story, _args, context) => (await votesOfStory(context, story.id)) ?? [],
    }),
    result: t.field({
      type: RoundResultType,
      nullable: true,
      description: 'What the votes came to; null until revealed.',
      resolve: (story, _args, context) => resultOfStory(context, story),
    }),
  }),
})
