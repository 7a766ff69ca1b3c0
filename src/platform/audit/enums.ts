import { enumOf } from '../../graphql/enums.ts'
import { ACTOR_KINDS } from './record.ts'
import type { EventCategory } from './registry.ts'

export const AuditCategoryEnum = enumOf<EventCategory>('AuditCategory', 'Whom events of a type concern.', {
  activity: 'Shows in the activity feed of those it concerns.',
  audit_only: 'For owners and admins alone.',
})

export const ActorKindEnum = enumOf('ActorKind', 'What kind of actor did it; SYSTEM is the server itself.', ACTOR_KINDS)
