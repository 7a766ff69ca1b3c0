import { prisma } from '../../db/prisma.ts'
import type { Kudos } from '../../generated/prisma/client.ts'
import { arg } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { connectionType } from '../../graphql/connection.ts'
import { NEWEST_FIRST } from '../../graphql/keyset.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { batchLoad } from '../../graphql/loads.ts'
import { mutation } from '../../graphql/mutation.ts'
import { relatedPage } from '../../graphql/related-page.ts'
import { userById } from '../../identity/index.ts'
import { ROOM_ERRORS } from '../room/errors.ts'
import { roomById } from '../room/loads.ts'
import { inVisibleSpace } from '../space/access.ts'
import { seesSpace } from '../space/loads.ts'
import { StandupStateType } from '../standup/types.ts'
import { deleteKudos } from './delete-kudos.ts'
import { giveKudos } from './give-kudos.ts'

builder.prismaNode('Kudos', {
  description: 'Thanks from one member of a space to another. Members of the space see it; nothing counts it.',
  id: { resolve: (kudos) => kudos.id },
  nullable: true,
  findUnique: (id, context) => ({ orgId_id: { orgId: callerOf(context).orgId, id }, ...inVisibleSpace(context) }),
  fields: (t) => ({
    from: t.field({
      type: 'User',
      nullable: true,
      description: 'Who gave it; null when they are gone or not the viewer’s to see.',
      resolve: ({ fromUserId }, _args, context) => userById(context, fromUserId),
    }),
    to: t.field({
      type: 'User',
      nullable: true,
      description: 'Who was thanked; null when they are gone or not the viewer’s to see.',
      resolve: ({ toUserId }, _args, context) => userById(context, toUserId),
    }),
    text: t.exposeString('text', { description: '1 to 280 characters.' }),
    room: t.field({
      type: 'Room',
      nullable: true,
      description: 'Where it was given; null for none, or one that is gone.',
      resolve: ({ roomId }, _args, context) => (roomId ? roomById(context, roomId) : null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was given.' }),
  }),
})

/** Without a total: nothing counts kudos (ROOM-110). */
const [KudosConnection, KudosEdge] = connectionType('Kudos', 'Kudos', { counted: false })

builder.prismaObjectField('Space', 'kudos', (t) =>
  t.connection(
    {
      type: 'Kudos',
      description: 'The wall: all kudos of the space, the newest first.',
      resolve: ({ id }, args, context, info) =>
        relatedPage<Kudos>({
          context,
          info,
          id,
          type: 'Kudos',
          relation: 'kudos',
          args,
          order: NEWEST_FIRST,
          where: inVisibleSpace(context),
          parents: (query) => prisma.space.findMany(query),
        }) as never,
    },
    KudosConnection,
    KudosEdge,
  ),
)

/** By space and room, as the index has them. */
const kudosOfRoom = batchLoad(async (keys: readonly string[], context) => {
  const places = keys.map((key) => key.split(' ') as [string, string])
  const rows = await prisma.kudos.findMany({
    where: {
      orgId: context.audience?.orgId ?? callerOf(context).orgId,
      spaceId: { in: [...new Set(places.map(([spaceId]) => spaceId))] },
      roomId: { in: places.map(([, roomId]) => roomId) },
      ...inVisibleSpace(context),
    },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  return Map.groupBy(rows, ({ spaceId, roomId }) => `${spaceId} ${roomId}`)
})

builder.objectField(StandupStateType, 'kudos', (t) =>
  t.field({
    type: ['Kudos'],
    ...costOfRows(20),
    description: 'The closing beat: kudos given in this standup, in the order they came. Guests see none.',
    resolve: async ({ id, spaceId }, _args, context) =>
      (await seesSpace(context, spaceId)) ? ((await kudosOfRoom(context, `${spaceId} ${id}`)) ?? []) : [],
  }),
)

mutation('kudosGive', {
  description: 'Thanks another member of a space, who may be told of it in a room that is not done. Members may.',
  input: {
    spaceId: arg.id('Space'),
    userId: arg.id('User').describe('Who is thanked.'),
    text: arg.text({ max: 280 }),
    roomId: arg.id('Room').optional().describe('A room of the space in which it is given.'),
  },
  errors: ROOM_ERRORS,
  needs: 'participant',
  scope: 'rooms:write',
  run: giveKudos,
  payload: (t) => ({
    kudos: t.prismaField({
      type: 'Kudos',
      nullable: true,
      description: 'The kudos; null once the space is no longer the caller’s.',
      resolve: (query, { kudosId: id }, _args, context) =>
        prisma.kudos.findUnique({
          ...query,
          where: { orgId_id: { orgId: callerOf(context).orgId, id }, ...inVisibleSpace(context) },
        }),
    }),
  }),
})

mutation('kudosDelete', {
  description: 'Takes kudos back. Only whoever gave it may.',
  input: { id: arg.id('Kudos') },
  needs: 'participant',
  scope: 'rooms:write',
  run: deleteKudos,
  payload: (t) => ({
    kudosId: t.globalID({
      description: 'Of the kudos that is gone.',
      resolve: ({ kudosId }) => ({ type: 'Kudos', id: kudosId }),
    }),
  }),
})
