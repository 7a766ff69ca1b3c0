import { prisma } from '../../db/prisma.ts'
import type { WebhookDelivery } from '../../generated/prisma/client.ts'
import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { connectionType, pageOf } from '../../graphql/connection.ts'
import { NEWEST_FIRST } from '../../graphql/keyset.ts'
import { relatedPage } from '../../graphql/related-page.ts'
import { visibleDeliveries, visibleWebhooks } from './access.ts'
import { WebhookDeliveryConnection, WebhookDeliveryEdge } from './delivery-graphql.ts'
import { type DisabledReason, WebhookDeliveryStateEnum, WebhookDisabledReasonEnum } from './enums.ts'

builder.prismaNode('Webhook', {
  description:
    'An endpoint that is told of events by signed POST requests (Standard Webhooks), for the whole org or for one space. ' +
    'A space’s own is told what people write there; all others get ids and figures.',
  id: { resolve: (webhook) => webhook.id },
  nullable: true,
  findUnique: (id, context) => {
    const caller = callerOf(context)
    return { orgId_id: { orgId: caller.orgId, id }, AND: visibleWebhooks(caller) }
  },
  fields: (t) => ({
    url: t.exposeString('url', { description: 'Where it is told.' }),
    secretHint: t.exposeString('secretHint', { description: 'The last characters of its secret.' }),
    eventTypes: t.exposeStringList('eventTypes', {
      description: 'Of what: types of `eventTypes`, wildcards such as `room.*`, or `*` for all that are delivered.',
    }),
    isActive: t.exposeBoolean('isActive', { description: 'Off: what it is owed waits, and no more is added.' }),
    disabledReason: t.field({
      type: WebhookDisabledReasonEnum,
      nullable: true,
      description: 'Why it is off; null while it is on.',
      resolve: ({ disabledReason }) => disabledReason as DisabledReason | null,
    }),
    apiVersion: t.exposeString('apiVersion', { description: 'The form of what it is sent, as its org had it then.' }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when no attempt has succeeded; after five days it is switched off.',
    }),
    lastSuccessAt: t.expose('lastSuccessAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Of the last attempt that did.',
    }),
    lastFailureAt: t.expose('lastFailureAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Of the last attempt that failed.',
    }),
    createdBy: t.relation('createdBy', {
      nullable: true,
      description: 'Who made it; null for an admin key, and where the caller does not see them.',
    }),
    deliveries: t.connection(
      {
        type: 'WebhookDelivery',
        description: 'The newest first; none for an admin who does not own the endpoint’s space.',
        resolve: ({ id }, args, context, info) =>
          relatedPage<WebhookDelivery>({
            context,
            info,
            id,
            type: 'WebhookDelivery',
            relation: 'deliveries',
            args,
            order: NEWEST_FIRST,
            where: visibleDeliveries(callerOf(context)),
            parents: (query) => prisma.webhook.findMany(query),
          }),
      },
      WebhookDeliveryConnection,
      WebhookDeliveryEdge,
    ),
  }),
})

const [WebhookConnection, WebhookEdge] = connectionType('Webhook', 'Webhook')
const one = argumentsOf({ id: arg.id('Webhook') })
const some = argumentsOf({ spaceId: arg.id('Space').nullable() })
const deliveries = argumentsOf({
  webhookId: arg.id('Webhook'),
  state: arg.enum(WebhookDeliveryStateEnum).optional().describe('Only those in this state.'),
})

builder.queryField('webhook', (t) =>
  t.prismaField({
    type: 'Webhook',
    nullable: true,
    args: one.args,
    authScopes: { needs: 'viewer' },
    description: 'An endpoint of the org, for its owners and admins, or of a space, for its owners and those.',
    resolve: (query, _root, args, context) => {
      const caller = callerOf(context)
      const { id } = one.values(args)
      return prisma.webhook.findUnique({
        ...query,
        where: { orgId_id: { orgId: caller.orgId, id }, AND: visibleWebhooks(caller) },
      })
    },
  }),
)

builder.queryField('webhooks', (t) =>
  t.connection(
    {
      type: 'Webhook',
      nullable: true,
      args: some.args,
      authScopes: { needs: 'viewer' },
      description: 'The endpoints that the caller sees, or the one of a space; the newest first.',
      resolve: pageOf({
        type: 'Webhook',
        order: NEWEST_FIRST,
        model: prisma.webhook,
        where: (context, args) => {
          const caller = callerOf(context)
          const { spaceId } = some.values(args)
          return { AND: [{ orgId: caller.orgId, ...(spaceId && { spaceId }) }, visibleWebhooks(caller)] }
        },
      }),
    },
    WebhookConnection,
    WebhookEdge,
  ),
)

builder.queryField('webhookDeliveries', (t) =>
  t.connection(
    {
      type: 'WebhookDelivery',
      nullable: true,
      args: deliveries.args,
      authScopes: { needs: 'viewer' },
      description: 'What an endpoint was and is owed, the newest first, for those who run it.',
      resolve: pageOf({
        type: 'WebhookDelivery',
        order: NEWEST_FIRST,
        model: prisma.webhookDelivery,
        where: (context, args) => {
          const caller = callerOf(context)
          const { webhookId, state } = deliveries.values(args)
          return { AND: [{ orgId: caller.orgId, webhookId, ...(state && { state }) }, visibleDeliveries(caller)] }
        },
      }),
    },
    WebhookDeliveryConnection,
    WebhookDeliveryEdge,
  ),
)
