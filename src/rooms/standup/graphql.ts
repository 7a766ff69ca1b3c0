import { prisma } from '../../db/prisma.ts'
import { arg } from '../../graphql/arguments.ts'
import { callerOf } from '../../graphql/builder.ts'
import { enumOf } from '../../graphql/enums.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { mutation } from '../../graphql/mutation.ts'
import { inVisibleRoom } from '../room/access.ts'
import { ROOM_ERRORS } from '../room/errors.ts'
import { SERVER_NOW } from '../room/graphql.ts'
import { roomField } from '../room/payload-fields.ts'
import { commentOnEntry } from './comment-on-entry.ts'
import { deleteEntryComment } from './delete-entry-comment.ts'
import { gatherStandup } from './gather-standup.ts'
import { passTurn } from './next-speaker.ts'
import { entryField } from './payload-fields.ts'
import { reactToEntry } from './react-to-entry.ts'
import { saveEntry } from './save-entry.ts'
import { setOrder } from './set-order.ts'
import { setReady } from './set-ready.ts'
import { skipSpeaker } from './skip-speaker.ts'
import { SPEAKING_ORDERS } from './standup-room.ts'
import { startStandup } from './start-standup.ts'

const SpeakingOrderEnum = enumOf(
  'SpeakingOrder',
  'In which order people speak: as they came, or as chance has it.',
  SPEAKING_ORDERS,
)

const roomId = arg.id('Room')
const entryUserId = arg.id('User').describe('Whose entry.')
const said = arg.text({ min: 0, max: 2_000 }).optional()
const PEOPLE_MAX = 2_000

mutation('standupEntryPut', {
  description:
    "Writes the caller's own entry of a standup that is not done; what is left out stays. Members who are no spectators " +
    'may, and guests. Whoever answers while people speak comes into the order, behind the others.',
  input: { roomId, yesterday: said, today: said, blockers: said },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: saveEntry,
  payload: (t) => ({ room: roomField(t), entry: entryField(t) }),
})

mutation('standupReadySet', {
  description: 'Says whether the caller is ready, while the standup gathers. Nothing but a screen goes by it.',
  input: { roomId, ready: arg.boolean() },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: setReady,
  payload: (t) => ({ room: roomField(t), entry: entryField(t) }),
})

mutation('standupStart', {
  description:
    'Begins the speaking: fixes the order of those who are present and no spectators, and of everybody who has answered, ' +
    'and gives the first one not skipped the turn. Hosts may.',
  input: { roomId, order: arg.enum(SpeakingOrderEnum) },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: startStandup,
  payload: (t) => ({ room: roomField(t), serverNow: t.field(SERVER_NOW) }),
})

mutation('standupNext', {
  description:
    'Ends a turn and gives it to the next one, after the last to nobody. Hosts may, and whoever has the turn.',
  input: {
    roomId,
    expectedSpeakerId: arg
      .id('User')
      .nullable()
      .describe(
        'Whose turn ends; if they have it no longer, nothing changes. None: nobody has it, so somebody gets it.',
      ),
  },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: passTurn,
  payload: (t) => ({ room: roomField(t), serverNow: t.field(SERVER_NOW) }),
})

mutation('standupSkip', {
  description:
    'Passes somebody over, or no longer: then they speak after the others. A skipped speaker’s turn goes on. Hosts may, ' +
    'and everybody for themselves.',
  input: { roomId, userId: arg.id('User').describe('Who is passed over.'), skipped: arg.boolean() },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: skipSpeaker,
  payload: (t) => ({ room: roomField(t), entry: entryField(t), serverNow: t.field(SERVER_NOW) }),
})

mutation('standupOrderSet', {
  description: 'Rearranges those who have not spoken. Hosts may.',
  input: {
    roomId,
    userIds: arg
      .list(arg.id('User'), PEOPLE_MAX)
      .describe('Who speaks next, in this order. Whoever is not named follows in the order there was.'),
  },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: setOrder,
  payload: (t) => ({ room: roomField(t) }),
})

mutation('standupGather', {
  description: 'Goes back from speaking to gathering: order and turns are cleared. Hosts may.',
  input: { roomId },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: gatherStandup,
  payload: (t) => ({ room: roomField(t) }),
})

mutation('standupEntryComment', {
  description: 'Says something to an answered entry, also when the standup is done. Members may; an entry takes 50.',
  input: { roomId, entryUserId, text: arg.text({ max: 500 }) },
  errors: [LimitReachedError, ...ROOM_ERRORS],
  needs: 'user',
  scope: 'rooms:write',
  run: commentOnEntry,
  payload: (t) => ({
    room: roomField(t),
    entry: entryField(t),
    comment: t.prismaField({
      type: 'StandupEntryComment',
      nullable: true,
      description: 'The comment.',
      resolve: (query, { commentId: id }, _args, context) =>
        prisma.standupEntryComment.findUnique({
          ...query,
          where: { orgId_id: { orgId: callerOf(context).orgId, id }, entry: inVisibleRoom(context) },
        }),
    }),
  }),
})

mutation('standupEntryCommentDelete', {
  description: "Takes one of the caller's own comments back, also when the standup is done.",
  input: { id: arg.id('StandupEntryComment') },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: deleteEntryComment,
  payload: (t) => ({
    room: roomField(t),
    entry: entryField(t),
    commentId: t.globalID({
      description: 'Of the comment that is gone.',
      resolve: ({ commentId }) => ({ type: 'StandupEntryComment', id: commentId }),
    }),
  }),
})

mutation('standupEntryReact', {
  description:
    'Puts a reaction on an answered entry, also when the standup is done; the same one again takes it back. Members may, ' +
    'and guests.',
  input: {
    roomId,
    entryUserId,
    emoji: arg
      .text({ max: 8 })
      .describe('One emoji: thumbs up, red heart, party popper, eyes, folded hands or light bulb.'),
  },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: reactToEntry,
  payload: (t) => ({ room: roomField(t), entry: entryField(t) }),
})
