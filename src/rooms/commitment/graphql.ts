import { prisma } from '../../db/prisma.ts'
import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf, type SchemaTypes } from '../../graphql/builder.ts'
import { connectionType, pageOf } from '../../graphql/connection.ts'
import { enumOf } from '../../graphql/enums.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { mutation } from '../../graphql/mutation.ts'
import { userById } from '../../identity/index.ts'
import { ROOM_ERRORS } from '../room/errors.ts'
import { roomById } from '../room/loads.ts'
import { roomField } from '../room/payload-fields.ts'
import { inVisibleSpace } from '../space/access.ts'
import { addCommitment } from './add-commitment.ts'
import { answerCommitment } from './answer-commitment.ts'
import { COMMITMENT_ANSWERS, isStuck } from './commitment.ts'

const REASONS = ['landed', 'dropped'] as const
const ReasonEnum = enumOf('CommitmentClosedReason', 'Whether it was done or given up.', REASONS)
const AnswerEnum = enumOf(
  'CommitmentAnswer',
  'What became of a commitment: it is done, given up, or carried on.',
  COMMITMENT_ANSWERS,
)

builder.prismaNode('Commitment', {
  description: 'What a member said they would do, open until they say what became of it. Members of the space see it.',
  id: { resolve: (commitment) => commitment.id },
  nullable: true,
  findUnique: (id, context) => ({ orgId_id: { orgId: callerOf(context).orgId, id }, ...inVisibleSpace(context) }),
  fields: (t) => ({
    user: t.field({
      type: 'User',
      nullable: true,
      description: 'Who said it; null when they are gone or not the viewer’s to see.',
      resolve: ({ userId }, _args, context) => userById(context, userId),
    }),
    text: t.exposeString('text', { description: '1 to 500 characters.' }),
    carried: t.exposeInt('carried', { description: 'Into how many standups it was carried by “not yet”.' }),
    stuck: t.boolean({ description: 'It was carried twice or more.', resolve: isStuck }),
    openedRoom: t.field({
      type: 'Room',
      nullable: true,
      description: 'Where it was said; null when that room is gone: then it shows as carried in.',
      resolve: ({ openedRoomId }, _args, context) => (openedRoomId ? roomById(context, openedRoomId) : null),
    }),
    closedAt: t.expose('closedAt', { type: 'DateTime', nullable: true, description: 'Null while it is open.' }),
    closedReason: t.field({
      type: ReasonEnum,
      nullable: true,
      description: 'Null while it is open.',
      resolve: ({ closedReason }) => closedReason as (typeof REASONS)[number] | null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was said.' }),
  }),
})

const [CommitmentConnection, CommitmentEdge] = connectionType('Commitment', 'Commitment')
const read = argumentsOf({
  spaceId: arg.id('Space'),
  open: arg.boolean().optional().describe('Only those that are open, or only those that are not; absent: all.'),
  mine: arg.boolean().optional().describe('Only the caller’s own: with `open` what they carry over.'),
})

builder.queryField('commitments', (t) =>
  t.connection(
    {
      type: 'Commitment',
      nullable: true,
      args: read.args,
      authScopes: { needs: 'participant', scope: 'rooms:read' },
      description: 'What the members of a space said they would do, the oldest first.',
      resolve: pageOf({
        type: 'Commitment',
        order: [{ field: 'id', type: 'uuid' }],
        model: prisma.commitment,
        where: (context, args) => {
          const { spaceId, open, mine } = read.values(args)
          return {
            orgId: callerOf(context).orgId,
            spaceId,
            ...inVisibleSpace(context),
            ...(open !== undefined && { closedAt: open ? null : { not: null } }),
            ...(mine === true && { userId: callerOf(context).userId ?? '' }),
          }
        },
      }) as never,
    },
    CommitmentConnection,
    CommitmentEdge,
  ),
)

const commitmentField = <Parent extends { commitmentId: string }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Parent>,
) =>
  t.prismaField({
    type: 'Commitment',
    nullable: true,
    description: 'The commitment as it is now; null once it is no longer the caller’s to see.',
    resolve: (query, { commitmentId: id }, _args, context) =>
      prisma.commitment.findUnique({
        ...query,
        where: { orgId_id: { orgId: callerOf(context).orgId, id }, ...inVisibleSpace(context) },
      }),
  })

mutation('commitmentAdd', {
  description:
    'The caller says what they will do, in a standup that is not done. It is carried from standup to standup until they ' +
    'say what became of it; at most 50 are open. Members of the space may.',
  input: { roomId: arg.id('Room'), text: arg.text({ max: 500 }) },
  errors: [LimitReachedError, ...ROOM_ERRORS],
  needs: 'user',
  scope: 'rooms:write',
  run: addCommitment,
  payload: (t) => ({ commitment: commitmentField(t), room: roomField(t) }),
})

mutation('commitmentAnswer', {
  description:
    'Says in a standup of the space what became of one’s own commitment. `NOT_YET` counts once a standup. An answer may be ' +
    'changed in the standup it was given in, while that is not done.',
  input: {
    id: arg.id('Commitment'),
    roomId: arg.id('Room').describe('The standup in which it is answered.'),
    answer: arg.enum(AnswerEnum).describe('What became of it.'),
  },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: answerCommitment,
  payload: (t) => ({ commitment: commitmentField(t), room: roomField(t) }),
})
