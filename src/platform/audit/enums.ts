import { builder } from '../../graphql/builder.ts'

export const AUDIT_CATEGORIES = ['activity', 'audit_only'] as const
export const AuditCategory = builder.enumType('AuditCategory', {
  values: {
    activity: { description: 'Shows in the activity feed of those it concerns.' },
    audit_only: { description: 'For owners and admins alone.' },
  },
})

export const ACTOR_KINDS = ['human', 'agent', 'api_key', 'system'] as const
export const ActorKind = builder.enumType('ActorKind', {
  description: 'What kind of actor did it; `system` is the server itself.',
  values: ACTOR_KINDS,
})
