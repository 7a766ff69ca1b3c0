import { builder } from '../../graphql/builder.ts'
import { AuditCategoryEnum } from './enums.ts'
import { shapeOfPayload } from './node-ids.ts'
import { printShape } from './print.ts'
import { payloadAsRecorded } from './projection.ts'
import { type AnyEventType, eventTypes } from './registry.ts'

const EventTypeType = builder.objectRef<AnyEventType>('EventType').implement({
  description: 'A kind of event: what is recorded when, and who gets to know. The same list as docs/events.md.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Such as `room.ended`; what filters and webhooks take.' }),
    category: t.expose('category', { type: AuditCategoryEnum, description: 'Whom it concerns.' }),
    deliverable: t.exposeBoolean('deliverable', { description: 'Goes to webhooks and plugins.' }),
    durable: t.exposeBoolean('durable', { description: 'Outlives the purge of its org.' }),
    projected: t.boolean({
      description: 'Whoever reads it elsewhere than in `auditEvents` gets a projection of its payload.',
      resolve: ({ projection }) => projection !== payloadAsRecorded,
    }),
    description: t.exposeString('description', { description: 'When it is recorded.' }),
    payload: t.string({
      description: 'The shape of its payload in the notation of TypeScript; `ID<User>` is the global id of a User.',
      resolve: ({ payload }) => printShape(shapeOfPayload(payload)),
    }),
  }),
})

builder.queryField('eventTypes', (t) =>
  t.field({
    type: [EventTypeType],
    description: 'Every kind of event there is, by name.',
    authScopes: { needs: 'viewer' },
    resolve: () => eventTypes(),
  }),
)
