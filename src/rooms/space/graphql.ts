import { prisma } from '../../db/prisma.ts'
import type { Room, SpaceMember } from '../../generated/prisma/client.ts'
import { argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { meets } from '../../graphql/caller.ts'
import { connectionType } from '../../graphql/connection.ts'
import { NEWEST_FIRST } from '../../graphql/keyset.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { relatedPage } from '../../graphql/related-page.ts'
import { decksOfSpace } from '../deck/loads.ts'
import { visibleRooms } from '../room/access.ts'
import { RoomConnection, RoomEdge, roomFilter } from '../room/connection.ts'
import { RoomKindType } from '../room/kind.ts'
import { inVisibleSpace, visibleSpaces } from './access.ts'
import { abandonedSpace, offeredKinds, ownMembership, seesSpace } from './loads.ts'
import { IN_ORDER_OF_JOINING, SpaceMemberConnection, SpaceMemberEdge, SpaceRoleEnum } from './member-graphql.ts'
import { standingIn } from './standing.ts'

export const [SpaceConnection, SpaceEdge] = connectionType('Space', 'Space')
const rooms = argumentsOf({ filter: roomFilter.nullable() })

builder.prismaNode('Space', {
  description:
    'A team’s place: its members, its rooms. Who is no member sees id, slug, name and `hasPasscode` in the directory, ' +
    'and nothing of what is in it.',
  id: { resolve: (space) => space.id },
  nullable: true,
  findUnique: (id, context) => ({ orgId_id: { orgId: callerOf(context).orgId, id }, ...visibleSpaces(context) }),
  fields: (t) => ({
    slug: t.exposeString('slug', { description: 'Its name in addresses, unique in the org; owners may change it.' }),
    name: t.exposeString('name', { description: 'Its name for people.' }),
    hasPasscode: t.boolean({
      description: 'Joining takes a passcode.',
      resolve: ({ passcode }) => passcode !== '',
    }),
    passcode: t.string({
      nullable: true,
      description: 'For members, to tell others; empty when the space is open.',
      resolve: async ({ id, passcode }, _args, context) => ((await seesSpace(context, id)) ? passcode : null),
    }),
    archivedAt: t.field({
      type: 'DateTime',
      nullable: true,
      ...perViewer('Since when the directory does not list it. For members, and admins of the org.'),
      resolve: async ({ id, archivedAt }, _args, context) =>
        meets('admin', context.caller) || (await seesSpace(context, id)) ? archivedAt : null,
    }),
    abandoned: t.boolean({
      nullable: true,
      ...perViewer('Nobody who counts owns it any more. For members, and admins of the org.'),
      resolve: async ({ id }, _args, context) => {
        const known = meets('admin', context.caller) || (await seesSpace(context, id))
        return known ? (await abandonedSpace(context, id)) !== null : null
      },
    }),
    myRole: t.field({
      type: SpaceRoleEnum,
      nullable: true,
      ...perViewer('The viewer’s role; null for who is no member.'),
      resolve: async ({ id }, _args, context) => (await ownMembership(context, id))?.role ?? null,
    }),
    mySpectator: t.boolean({
      nullable: true,
      ...perViewer('Whether the viewer watches and does not vote; null for who is no member.'),
      resolve: async ({ id }, _args, context) => (await ownMembership(context, id))?.spectator ?? null,
    }),
    members: t.connection(
      {
        type: 'SpaceMember',
        description: 'In the order they joined.',
        resolve: ({ orgId, id }, args, context, info) =>
          relatedPage<SpaceMember>({
            context,
            info,
            id,
            type: 'SpaceMember',
            relation: 'members',
            args,
            order: IN_ORDER_OF_JOINING,
            where: { AND: [inVisibleSpace(context), { user: standingIn(orgId) }] },
            parents: (query) => prisma.space.findMany(query),
          }),
      },
      SpaceMemberConnection,
      SpaceMemberEdge,
    ),
    rooms: t.connection(
      {
        type: 'Room',
        description: 'The newest first.',
        args: rooms.args,
        resolve: ({ id }, args, context, info) =>
          relatedPage<Room>({
            context,
            info,
            id,
            type: 'Room',
            relation: 'rooms',
            args,
            order: NEWEST_FIRST,
            where: { AND: [visibleRooms(context), rooms.values(args).filter ?? {}] },
            parents: (query) => prisma.space.findMany(query),
          }),
      },
      RoomConnection,
      RoomEdge,
    ),
    decks: t.field({
      type: ['Deck'],
      ...costOfRows(10),
      description: 'The space’s own, by name, at most 50.',
      resolve: async ({ id }, _args, context) =>
        (await seesSpace(context, id)) ? ((await decksOfSpace(context, id)) ?? []) : [],
    }),
    kinds: t.field({
      type: [RoomKindType],
      ...costOfRows(5),
      description: 'What a room of the space can be.',
      resolve: async ({ orgId, id }, _args, context) =>
        (await seesSpace(context, id)) ? offeredKinds(context, orgId) : [],
    }),
  }),
})
