import { builder, callerOf } from '../../graphql/builder.ts'
import { connectionType } from '../../graphql/connection.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { visibleDeliveries } from './access.ts'
import { type AttemptStatus, type DeliveryState, WebhookAttemptStatusEnum, WebhookDeliveryStateEnum } from './enums.ts'

const AttemptType = builder.prismaObject('WebhookAttempt', {
  description: 'One request and what came back.',
  fields: (t) => ({
    attempt: t.exposeInt('attempt', { description: 'Its number, from 1; sent as `moothall-attempt`.' }),
    status: t.field({
      type: WebhookAttemptStatusEnum,
      description: 'How it ended.',
      resolve: ({ status }) => status as AttemptStatus,
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    durationMs: t.exposeInt('durationMs', { description: 'Milliseconds that it took.' }),
    responseStatus: t.exposeInt('responseStatus', {
      nullable: true,
      description: 'Status of the answer; null when there was none.',
    }),
    responseBody: t.exposeString('responseBody', {
      nullable: true,
      description: 'The beginning of the answer, at most 4 KiB, secrets removed.',
    }),
    errorMessage: t.exposeString('errorMessage', { nullable: true, description: 'Why it failed.' }),
  }),
})

builder.prismaNode('WebhookDelivery', {
  description: 'What one endpoint is owed of one event. It is delivered at least once, each time under the event’s id.',
  id: { resolve: (delivery) => delivery.id },
  nullable: true,
  findUnique: (id, context) => {
    const caller = callerOf(context)
    return { orgId_id: { orgId: caller.orgId, id }, AND: visibleDeliveries(caller) }
  },
  fields: (t) => ({
    event: t.relation('event', { nullable: true, description: 'What happened.' }),
    state: t.field({
      type: WebhookDeliveryStateEnum,
      description: 'How far it is.',
      resolve: ({ state }) => state as DeliveryState,
    }),
    attempts: t.relation('attempts', {
      type: AttemptType,
      ...costOfRows(10),
      query: { orderBy: { attempt: 'asc' } },
      description: 'In order.',
    }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When it is tried next; null once it has ended.',
      resolve: ({ state, nextAttemptAt }) => (state === 'pending' ? nextAttemptAt : null),
    }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the endpoint took it.',
    }),
    failedAt: t.expose('failedAt', { type: 'DateTime', nullable: true, description: 'When it was given up.' }),
    lastError: t.exposeString('lastError', { nullable: true, description: 'Why the last attempt failed.' }),
  }),
})

export const [WebhookDeliveryConnection, WebhookDeliveryEdge] = connectionType('WebhookDelivery', 'WebhookDelivery')
