import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import { prisma } from '../../db/prisma.ts'
import type { AuditEvent, Prisma } from '../../generated/prisma/client.ts'
import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { PAGE_DEFAULT, PAGE_MAX } from '../../graphql/keyset.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { requireNeed } from '../../graphql/require-need.ts'
import { BEGINNING, encodePosition, type Position, positionOf } from './cursor.ts'
import { type FeedPlace, placeOfNow, readFeed } from './feed.ts'
import { followFeed } from './feed-source.ts'
import { auditFilter } from './filter.ts'
import { knowsIdsOf } from './named-ids.ts'

type Item = { event: AuditEvent; position: Position }

export const AuditFeedItemType = builder.objectRef<Item>('AuditFeedItem').implement({
  description: 'One event of the feed.',
  fields: (t) => ({
    event: t.field({
      type: 'AuditEvent' as never,
      description: 'What happened.',
      resolve: ({ event }) => event as never,
    }),
    cursor: t.string({ description: 'Go on after this event.', resolve: ({ position }) => encodePosition(position) }),
  }),
})

const AuditFeedPageType = builder
  .objectRef<{ items: Item[]; end: Position; caughtUp: boolean }>('AuditFeedPage')
  .implement({
    description: 'A stretch of the feed.',
    fields: (t) => ({
      items: t.field({
        type: [AuditFeedItemType],
        description: 'In the order of the feed.',
        resolve: ({ items }) => items,
      }),
      cursor: t.string({
        description:
          'Go on from here. With a filter it may lie behind the last item, and a page may be short or empty.',
        resolve: ({ end }) => encodePosition(end),
      }),
      caughtUp: t.exposeBoolean('caughtUp', {
        description:
          'There is nothing more for now: neither further pages nor events that older transactions still hide.',
      }),
    }),
  })

/** The events at these positions, in that order; without those that `readable` leaves out. */
export async function itemsAt(
  positions: readonly Position[],
  context: Context,
  info: GraphQLResolveInfo,
  path: string[],
  readable: Prisma.AuditEventWhereInput = {},
): Promise<Item[]> {
  if (positions.length === 0) return []
  const selection = queryFromInfo({ context, info, typeName: 'AuditEvent', path })
  const where = { AND: [{ orgId: callerOf(context).orgId, id: { in: positions.map(({ id }) => id) } }, readable] }
  const events: AuditEvent[] = await prisma.auditEvent.findMany({ ...selection, where } as never)
  const byId = new Map(events.map((event) => [event.id, event]))
  return positions.flatMap((position) => {
    const event = byId.get(position.id)
    return event ? [{ event, position }] : []
  })
}

export const ORDER = 'in an order that is the same for every reader: an event is never skipped and never repeated'
const after = arg
  .exact(200)
  .nullable()
  .describe('Of an item or a page; without it the query begins at the first event.')
const read = argumentsOf({
  after,
  first: arg.int(1, PAGE_MAX).nullable().describe(`1 to ${PAGE_MAX}; ${PAGE_DEFAULT} when left out.`),
  filter: auditFilter.nullable(),
})
export const follow = argumentsOf({
  after: after.describe('Without it the stream begins with what happens from now on.'),
  filter: auditFilter.nullable(),
})

/** Where a stream begins: behind that cursor, or now. */
export const placeFrom = async (after: string | null | undefined, orgId: string): Promise<FeedPlace> =>
  after == null ? placeOfNow() : { position: await positionOf(after, orgId) }

builder.queryField('auditFeed', (t) =>
  t.field({
    type: AuditFeedPageType,
    description: `Every event of the org, for owners and admins, ${ORDER}. Payloads are without what only \`auditEvents\` shows.`,
    args: read.args,
    authScopes: { needs: 'admin' },
    resolve: async (_root, args, context, info) => {
      const { after, first, filter } = read.values(args)
      const { orgId } = callerOf(context)
      if (!(await knowsIdsOf(filter, {}, context))) throw requestError('NOT_FOUND')
      const position = after == null ? BEGINNING : await positionOf(after, orgId)
      const page = await readFeed(orgId, { position }, first ?? PAGE_DEFAULT, filter ?? null)
      return {
        items: await itemsAt(page.rows, context, info, ['items', 'event']),
        end: page.place.position,
        caughtUp: page.caughtUp,
      }
    },
  }),
)

builder.subscriptionField('auditFeed', (t) =>
  t.field({
    type: AuditFeedItemType,
    description: `The same feed as it grows, ${ORDER}. After a break go on with the last cursor.`,
    args: follow.args,
    authScopes: { needs: 'admin' },
    extensions: { needs: 'admin' }, // what its open streams must keep reaching
    subscribe: async (_root, args, context) => {
      const caller = requireNeed('admin', context)
      const { after, filter } = follow.values(args)
      if (!(await knowsIdsOf(filter, {}, context))) throw requestError('NOT_FOUND')
      const place = await placeFrom(after, caller.orgId)
      return followFeed({ ...scopeOf(caller, context.requestId), orgId: caller.orgId }, place, filter ?? null)
    },
    resolve: async (position, _args, context, info) => {
      const [item] = await itemsAt([position], context, info, ['event'])
      if (!item) throw new Error('an event is gone')
      return item
    },
  }),
)
