import { builder, callerOf } from '../../graphql/builder.ts'
import { connectionType } from '../../graphql/connection.ts'
import { encodeId, isNodeName } from '../../graphql/ids.ts'
import { nodeById } from '../../graphql/node-by-id.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { visibleEvents } from './access.ts'
import { cursorOf } from './cursor.ts'
import { ActorKindEnum, AuditCategoryEnum } from './enums.ts'
import { payloadFor } from './payload.ts'
import type { ActorKind } from './record.ts'
import type { EventCategory } from './registry.ts'

builder.prismaNode('AuditEvent', {
  description: 'One fact: who did what to what, when. Events are never changed; ids and slugs are as they were then.',
  id: { resolve: (event) => event.id },
  nullable: true,
  findUnique: (id, context) => {
    const caller = callerOf(context)
    return { orgId_id: { orgId: caller.orgId, id }, AND: visibleEvents(caller) }
  },
  fields: (t) => ({
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it happened.' }),
    category: t.field({
      type: AuditCategoryEnum,
      description: 'Whom its kind concerns.',
      resolve: (event) => event.category as EventCategory,
    }),
    type: t.exposeString('eventType', { description: 'Such as `room.ended`; docs/events.md lists them.' }),
    actorKind: t.field({
      type: ActorKindEnum,
      description: 'What kind of actor did it.',
      resolve: (event) => event.actorKind as ActorKind,
    }),
    actor: t.relation('actor', {
      nullable: true,
      description: 'The person or agent; null for others, and where the caller does not see them.',
    }),
    targetKind: t.exposeString('targetKind', { nullable: true, description: 'Type of what it was done to.' }),
    targetId: t.id({
      nullable: true,
      description: 'Id of what it was done to, also when that is gone.',
      resolve: ({ targetKind: kind, targetId: id }) => (id && isNodeName(kind) ? encodeId(kind, id) : null),
    }),
    target: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      ...perViewer('What it was done to; null when it is gone or not the caller’s to see.'),
      resolve: ({ targetKind: kind, targetId: id }, _args, context, info) =>
        id && isNodeName(kind) && info.schema.getType(kind) ? nodeById(context, info, kind, id) : null,
    }),
    orgSlug: t.exposeString('orgSlug', { description: 'What the org was called.' }),
    spaceSlug: t.exposeString('spaceSlug', { description: 'What the space was called; empty where there is none.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why, where the actor gave a reason.' }),
    payload: t.field({
      type: 'JSON',
      nullable: true,
      ...perViewer(
        'In full in `auditEvents`; elsewhere without what only admins get. Null where it is another’s private thing.',
      ),
      resolve: (event, _args, context) => payloadFor(event, context),
    }),
    requestId: t.expose('requestId', {
      type: 'UUID',
      nullable: true,
      description: 'Shared by all that one request did.',
    }),
    toolInvocation: t.relation('toolInvocation', {
      nullable: true,
      description: 'Of `agent.tool_invoked`: the call, while the tool log keeps it.',
    }),
    cursor: t.string({
      description: 'Its place in the feed: `auditFeed(after:)` goes on behind it.',
      resolve: async ({ id }, _args, context) => (await cursorOf(context, id))!,
    }),
  }),
})

export const [AuditEventConnection, AuditEventEdge] = connectionType('AuditEvent', 'AuditEvent')
