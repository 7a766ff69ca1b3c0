import { prisma } from '../../db/prisma.ts'
import { arg } from '../../graphql/arguments.ts'
import { callerOf, type SchemaTypes } from '../../graphql/builder.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { mutation } from '../../graphql/mutation.ts'
import { visibleDeliveries, visibleWebhooks } from './access.ts'
import { createWebhook } from './create-webhook.ts'
import { deleteWebhook } from './delete-webhook.ts'
import { redeliver } from './redeliver.ts'
import { rotateSecret } from './rotate-secret.ts'
import { testWebhook } from './test-webhook.ts'
import { updateWebhook } from './update-webhook.ts'

const id = arg.id('Webhook')
const url = arg
  .exact(2_048)
  .describe(
    'An https address without credentials and fragment, of at most 2,048 characters, on a public host; or one, also with http, in a network that the server is set up for.',
  )
const eventTypes = arg
  .list(arg.exact(100), 50)
  .describe(
    '1 to 50: types that `eventTypes` lists as deliverable, wildcards such as `room.*`, or `*` for all of them.',
  )

const SECRET = 'Signs what is sent: `whsec_…`. Shown this once.'

function webhookField<Parent extends { webhookId: string }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Parent>,
) {
  return t.prismaField({
    type: 'Webhook',
    nullable: true,
    description: 'The endpoint as it is now.',
    resolve: (query, { webhookId }, _args, context) => {
      const caller = callerOf(context)
      const where = { orgId_id: { orgId: caller.orgId, id: webhookId }, AND: visibleWebhooks(caller) }
      return prisma.webhook.findUnique({ ...query, where })
    },
  })
}

function deliveryField<Parent extends { deliveryId: string }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Parent>,
) {
  return t.prismaField({
    type: 'WebhookDelivery',
    nullable: true,
    description: 'The delivery as it is now.',
    resolve: (query, { deliveryId }, _args, context) => {
      const caller = callerOf(context)
      const where = { orgId_id: { orgId: caller.orgId, id: deliveryId }, AND: visibleDeliveries(caller) }
      return prisma.webhookDelivery.findUnique({ ...query, where })
    },
  })
}

mutation('webhookCreate', {
  description:
    'Makes an endpoint that is told of events from now on: of the whole org by its owners and admins, at most 20, or of a ' +
    'space by its owners, one.',
  input: { url, eventTypes, spaceId: arg.id('Space').optional() },
  errors: [LimitReachedError],
  needs: 'standing',
  operations: 'own',
  run: createWebhook,
  payload: (t) => ({ webhook: webhookField(t), secret: t.exposeString('secret', { description: SECRET }) }),
})

mutation('webhookUpdate', {
  description:
    'Changes address or event types, or switches the endpoint on or off; what is left out stays. What it is owed goes to ' +
    'the new address. Owners and admins of the org may switch a space’s endpoint off, no more.',
  input: {
    id,
    url: url.optional(),
    eventTypes: eventTypes.optional(),
    isActive: arg
      .boolean()
      .optional()
      .describe('Off: what it is owed waits. On again: what is older than three days is given up.'),
  },
  needs: 'standing',
  operations: 'own',
  run: updateWebhook,
  payload: (t) => ({ webhook: webhookField(t) }),
})

mutation('webhookDelete', {
  description: 'Deletes an endpoint with its deliveries. Owners and admins of the org may delete a space’s too.',
  input: { id },
  needs: 'standing',
  run: deleteWebhook,
  payload: (t) => ({
    webhookId: t.globalID({
      description: 'The endpoint that was deleted.',
      resolve: ({ webhookId }) => ({ type: 'Webhook', id: webhookId }),
    }),
  }),
})

mutation('webhookRotateSecret', {
  description: 'Gives an endpoint another secret. Both sign until the grace is over.',
  input: {
    id,
    graceHours: arg.int(0, 168).optional().describe('Hours that the old secret goes on signing, 0 to 168; default 24.'),
  },
  needs: 'standing',
  operations: 'own',
  run: rotateSecret,
  payload: (t) => ({ webhook: webhookField(t), secret: t.exposeString('secret', { description: SECRET }) }),
})

mutation('webhookTest', {
  description: 'Sends `webhook.test` to an endpoint, whatever its event types.',
  input: { id },
  needs: 'standing',
  run: testWebhook,
  payload: (t) => ({ webhook: webhookField(t), delivery: deliveryField(t) }),
})

mutation('webhookDeliveryRedeliver', {
  description: 'Sends once more what was delivered or given up, under the same id and with the same bytes.',
  input: { id: arg.id('WebhookDelivery') },
  needs: 'standing',
  run: redeliver,
  payload: (t) => ({ delivery: deliveryField(t) }),
})
