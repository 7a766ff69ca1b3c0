import { prisma } from '../../db/prisma.ts'
import { arg } from '../../graphql/arguments.ts'
import { builder, callerOf, type SchemaTypes } from '../../graphql/builder.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { mutation } from '../../graphql/mutation.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { delivery, userById } from '../../identity/index.ts'
import { ROOM_ERRORS } from '../room/errors.ts'
import { roomField } from '../room/payload-fields.ts'
import { visibleLinks } from './access.ts'
import { LinkExhaustedError } from './errors.ts'
import { mintLink } from './mint-link.ts'
import { redeemLink } from './redeem-link.ts'
import { revokeLink } from './revoke-link.ts'

builder.prismaNode('RoomLink', {
  description: 'Lets guests into one room for a day. Hosts of the room see it, and owners of its space.',
  id: { resolve: (link) => link.id },
  nullable: true,
  findUnique: (id, context) => ({ orgId_id: { orgId: callerOf(context).orgId, id }, ...visibleLinks(context) }),
  fields: (t) => ({
    createdBy: t.field({
      type: 'User',
      nullable: true,
      description: 'Who made it; null when they are gone.',
      resolve: ({ createdById }, _args, context) => (createdById ? userById(context, createdById) : null),
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it ends by itself, and its guests go.' }),
    revokedAt: t.expose('revokedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was ended; null while it was not.',
    }),
    redemptions: t.exposeInt('redemptions', { description: 'How many guests came by it, at most 50.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
  }),
})

builder.prismaObjectField('Room', 'links', (t) =>
  t.field({
    type: ['RoomLink'],
    ...costOfRows(20),
    ...perViewer('The links that let guests in, the newest 100, for hosts and owners of the space; to others none.'),
    resolve: ({ orgId, id }, _args, context) =>
      prisma.roomLink.findMany({
        where: { orgId, roomId: id, ...visibleLinks(context) },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        take: 100,
      }),
  }),
)

const linkField = <Parent extends { linkId: string }>(t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Parent>) =>
  t.prismaField({
    type: 'RoomLink',
    nullable: true,
    description: 'The link as it is now; null once it is no longer the caller’s to see.',
    resolve: (query, { linkId: id }, _args, context) =>
      prisma.roomLink.findUnique({
        ...query,
        where: { orgId_id: { orgId: callerOf(context).orgId, id }, ...visibleLinks(context) },
      }),
  })

mutation('roomLinkMint', {
  description:
    'Makes a link that lets up to 50 guests into the room for 24 hours. At most 20 hold at once. Registered hosts may.',
  input: { roomId: arg.id('Room') },
  errors: [LimitReachedError, ...ROOM_ERRORS],
  needs: 'user',
  scope: 'rooms:write',
  run: mintLink,
  payload: (t) => ({
    link: linkField(t),
    token: t.exposeString('token', { description: 'What `roomLinkRedeem` takes; shown this once.' }),
  }),
})

mutation('roomLinkRevoke', {
  description:
    'Ends a link. Its guests are out within a second; their votes and entries stay. Hosts of the room may, and owners of ' +
    'its space.',
  input: { id: arg.id('RoomLink') },
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: revokeLink,
  payload: (t) => ({ link: linkField(t), room: roomField(t) }),
})

mutation('roomLinkRedeem', {
  description:
    'Lets whoever holds a link into its room, as a guest until the link ends. The same browser, by its `guestKey`, is the ' +
    'same guest again, with five sessions at most. Who may see the room already stays who they are. At most 100 per ' +
    'address in 10 minutes.',
  input: {
    token: arg.exact(128).describe('Of the link.'),
    displayName: arg.text({ max: 64 }).describe('What others in the room see.'),
    guestKey: arg.exact(64).describe('16 to 64 characters that the browser made by chance and keeps.'),
    delivery,
  },
  errors: [LinkExhaustedError],
  needs: 'anyone',
  operations: 'own',
  run: redeemLink,
  payload: (t) => ({
    room: roomField(t),
    sessionToken: t.exposeString('sessionToken', {
      nullable: true,
      description: 'Of a BEARER session; shown this once. Null for a COOKIE session, and for who saw the room already.',
    }),
    csrfToken: t.exposeString('csrfToken', {
      nullable: true,
      description: 'Of a COOKIE session: what the cookie `moothall_csrf` says too.',
    }),
  }),
})
