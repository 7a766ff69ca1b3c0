import { builder } from '../../graphql/builder.ts'
import { ACTOR_KINDS } from './record.ts'
import type { EventCategory } from './registry.ts'

export const AuditCategoryEnum = builder.enumType('AuditCategory', {
  description: 'Whom events of a type concern.',
  values: {
    activity: { description: 'Shows in the activity feed of those it concerns.' },
    audit_only: { description: 'For owners and admins alone.' },
  } satisfies Record<EventCategory, object>,
})

export const ActorKindEnum = builder.enumType('ActorKind', {
  description: 'What kind of actor did it; `system` is the server itself.',
  values: ACTOR_KINDS,
})
