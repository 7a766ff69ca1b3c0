import { builder, callerOf } from '../../graphql/builder.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { userById } from '../../identity/index.ts'
import type { EntryColumns, Turn } from '../live/event-payloads.ts'
import { inVisibleRoom } from '../room/access.ts'
import { isAnswered } from './entry.ts'
import {
  commentsOfEntry,
  entriesOfRoom,
  type ReactionCount,
  reactedMyself,
  reactionsToEntry,
  turnsOfRoom,
} from './loads.ts'
import { standupConfigOf } from './standup-room.ts'

const person = (id: string) => ({ type: 'User' as const, id })

export const StandupTurnType = builder.objectRef<Turn>('StandupTurn').implement({
  description: 'A place in the order in which people speak.',
  fields: (t) => ({
    userId: t.globalID({ description: 'Whose turn it is.', resolve: ({ userId }) => person(userId) }),
    spoken: t.exposeBoolean('spoken', { description: 'They have had it.' }),
    skipped: t.exposeBoolean('skipped', { description: 'They are passed over.' }),
  }),
})

export const EntryReactionType = builder.objectRef<ReactionCount>('StandupEntryReaction').implement({
  description: 'How many reacted to an entry by an emoji.',
  fields: (t) => ({
    emoji: t.exposeString('emoji', {
      description: 'Thumbs up, red heart, party popper, eyes, folded hands or light bulb.',
    }),
    count: t.exposeInt('count', { description: 'How many did.' }),
    mine: t.boolean({
      ...perViewer('Whether the viewer is among them.'),
      resolve: (reaction, _args, context) => reactedMyself(context, reaction),
    }),
  }),
})

builder.prismaNode('StandupEntryComment', {
  description: 'What a member of the space said to an entry of a standup.',
  id: { resolve: (comment) => comment.id },
  nullable: true,
  findUnique: (id, context) => ({
    orgId_id: { orgId: callerOf(context).orgId, id },
    entry: inVisibleRoom(context),
  }),
  fields: (t) => ({
    author: t.field({
      type: 'User',
      nullable: true,
      description: 'Who said it; null when they are gone or not the viewer’s to see.',
      resolve: ({ authorId }, _args, context) => userById(context, authorId),
    }),
    text: t.exposeString('text', { description: '1 to 500 characters.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was said.' }),
  }),
})

export const StandupEntryType = builder.objectRef<EntryColumns>('StandupEntry').implement({
  description: 'What one person says in a standup.',
  fields: (t) => ({
    user: t.field({
      type: 'User',
      nullable: true,
      description: 'Whose it is; null when they are gone or not the viewer’s to see.',
      resolve: ({ userId }, _args, context) => userById(context, userId),
    }),
    userId: t.globalID({ description: 'Whose it is.', resolve: ({ userId }) => person(userId) }),
    yesterday: t.exposeString('yesterday', { description: 'What they did; empty for nothing said.' }),
    today: t.exposeString('today', { description: 'What they will do; empty for nothing said.' }),
    blockers: t.exposeString('blockers', { description: 'What is in their way; empty for nothing said.' }),
    skipped: t.exposeBoolean('skipped', { description: 'Their turn is passed over.' }),
    ready: t.exposeBoolean('ready', { description: 'They said they are ready. Nothing but a screen goes by it.' }),
    answered: t.boolean({ description: 'Any of the three texts says something.', resolve: isAnswered }),
    spokenAt: t.expose('spokenAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When their turn was over; null while it was not.',
    }),
    comments: t.field({
      type: ['StandupEntryComment'],
      ...costOfRows(3),
      description: 'What members said to it, at most 50, in the order it came.',
      resolve: (entry, _args, context) => commentsOfEntry(context, entry),
    }),
    reactions: t.field({
      type: [EntryReactionType],
      ...costOfRows(3),
      description: 'How many reacted to it by which emoji.',
      resolve: (entry, _args, context) => reactionsToEntry(context, entry),
    }),
  }),
})

/** The room's row, as far as a standup's fields go by it. */
export type StandupRow = {
  orgId: string
  id: string
  spaceId: string
  config: unknown
  phase: string
  currentSpeakerId: string | null
  speakerStartedAt: string | null
  closesAt: string | null
  endedAt: string | null
}

export const StandupStateType = builder.objectRef<StandupRow>('StandupState').implement({
  description: 'A standup: what people say, and who has the turn.',
  fields: (t) => ({
    async: t.boolean({
      description: 'People write when it suits them, and nobody waits for anybody.',
      resolve: (room) => standupConfigOf(room).async,
    }),
    closesAt: t.expose('closesAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends by itself; null when it does not.',
    }),
    entries: t.field({
      type: [StandupEntryType],
      ...costOfRows(20),
      description: 'In the order people came by one; blank ones are of those who have not answered.',
      resolve: async ({ id }, _args, context) => (await entriesOfRoom(context, id)) ?? [],
    }),
    order: t.field({
      type: [StandupTurnType],
      ...costOfRows(20),
      description: 'Who speaks in which order; empty until the speaking has begun.',
      resolve: async ({ id }, _args, context) => turnsOfRoom(context, id),
    }),
    currentSpeaker: t.field({
      type: 'User',
      nullable: true,
      description: 'Who has the turn; null before the first and after the last.',
      resolve: ({ currentSpeakerId: id }, _args, context) => (id === null ? null : userById(context, id)),
    }),
    currentSpeakerId: t.globalID({
      nullable: true,
      description: 'Who has the turn; null before the first and after the last.',
      resolve: ({ currentSpeakerId: id }) => id && person(id),
    }),
    speakerStartedAt: t.expose('speakerStartedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the turn began, by the clock of `Room.serverNow`; null while nobody has it.',
    }),
  }),
})
