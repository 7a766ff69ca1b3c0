import { arg } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { mutation } from '../../graphql/mutation.ts'
import { votesOfStory } from '../poker/loads.ts'
import { resultOfStory } from '../poker/story-result.ts'
import { RoundResultType, VoteType } from '../poker/types.ts'
import { inVisibleRoom } from '../room/access.ts'
import { ROOM_ERRORS } from '../room/errors.ts'
import { roomField } from '../room/payload-fields.ts'
import { addStory } from './add-story.ts'
import { deleteStory } from './delete-story.ts'
import { estimateStory } from './estimate-story.ts'
import { importStories } from './import-stories.ts'
import { moveStory } from './move-story.ts'
import { storyField } from './payload-fields.ts'
import { storyText } from './text.ts'
import { updateStory } from './update-story.ts'

// How many bytes it may have is the reader's to judge.
const CSV_READ = 262_144

builder.prismaNode('Story', {
  description: 'Something to estimate in a poker room.',
  id: { resolve: (story) => story.id },
  nullable: true,
  findUnique: (id, context) => ({ orgId_id: { orgId: callerOf(context).orgId, id }, ...inVisibleRoom(context) }),
  fields: (t) => ({
    title: t.exposeString('title', { description: 'What it is about; empty where `ref` says it.' }),
    notes: t.exposeString('notes', { description: 'More of it; empty for none.' }),
    ref: t.exposeString('ref', { description: 'What it is called elsewhere, such as a ticket’s key; empty for none.' }),
    position: t.exposeFloat('position', { description: 'Order within the room, ties broken by id.' }),
    estimate: t.exposeString('estimate', { nullable: true, description: 'What was written down for it.' }),
    quick: t.exposeBoolean('quick', { description: 'Made by a quick vote and not yet named.' }),
    revealedAt: t.expose('revealedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Null while cards are hidden.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    votes: t.field({
      type: [VoteType],
      ...costOfRows(10),
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

mutation('storyAdd', {
  description: 'Adds a story to a poker room, behind the last one. Members of the space may; a room holds 500.',
  input: { roomId: arg.id('Room'), ...storyText },
  errors: [LimitReachedError, ...ROOM_ERRORS],
  needs: 'user',
  scope: 'rooms:write',
  run: addStory,
  payload: (t) => ({ room: roomField(t), story: storyField(t) }),
})

mutation('storyUpdate', {
  description: 'Changes the text of a story; what is left out stays. Hosts may.',
  input: { id: arg.id('Story'), ...storyText },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: updateStory,
  payload: (t) => ({ room: roomField(t), story: storyField(t) }),
})

mutation('storyMove', {
  description: 'Moves a story within its room. Hosts may.',
  input: {
    id: arg.id('Story'),
    afterId: arg
      .id('Story')
      .nullable()
      .describe('The story it comes to stand behind; without one it becomes the first.'),
  },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: moveStory,
  payload: (t) => ({ room: roomField(t), story: storyField(t) }),
})

mutation('storyDelete', {
  description: 'Deletes a story and its votes. From the table it leaves an empty one. Hosts may.',
  input: { id: arg.id('Story') },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: deleteStory,
  payload: (t) => ({
    room: roomField(t),
    storyId: t.globalID({
      description: 'Of the story that is gone.',
      resolve: (deleted) => ({ type: 'Story', id: deleted.storyId }),
    }),
  }),
})

mutation('storyImport', {
  description:
    'Adds the stories of a CSV file to a poker room, all or none. A row whose `ref` the room has is skipped. Hosts may; a ' +
    'room holds 500.',
  input: {
    roomId: arg.id('Room'),
    csv: arg
      .exact(CSV_READ)
      .describe(
        'At most 256 KiB, separated by commas, semicolons or tabs. The header names `title`, `notes`, `ref` and ' +
          '`estimate` in any order, at least one of `title` and `ref`; other columns are ignored. Issues are at ' +
          '`csv.<row>.<column>`, where the header is row 1; a cell of no column has its number.',
      ),
  },
  errors: [LimitReachedError, ...ROOM_ERRORS],
  needs: 'user',
  scope: 'rooms:write',
  run: importStories,
  payload: (t) => ({
    room: roomField(t),
    added: t.exposeInt('added', { description: 'How many stories are new.' }),
    skipped: t.exposeInt('skipped', { description: 'How many rows were left out because the room had their ref.' }),
  }),
})

mutation('storyEstimate', {
  description: 'Writes down what a story was estimated at; no vote is touched. Hosts may, before and after the reveal.',
  input: {
    id: arg.id('Story'),
    estimate: arg
      .text({ max: 16 })
      .nullable()
      .describe('A card of the deck, but none of ? ☕ ∞; in a numeric deck any number. Without one it is cleared.'),
    toTicket: arg
      .boolean()
      .optional()
      .describe(
        'Also sets the estimate of the ticket that the story’s `ref` names; refused, for both, when the caller may not ' +
          'edit such a ticket.',
      ),
  },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: estimateStory,
  payload: (t) => ({ room: roomField(t), story: storyField(t) }),
})
