import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'

export const orgCreated = defineEvent('org.created', {
  category: 'audit_only',
  durable: true,
  deliverable: true,
  description: 'The org came to be, with its first owner.',
  payload: z.strictObject({ ownerId: nodeId('User'), allowAnonymous: z.boolean() }),
})

export const orgExported = defineEvent('org.exported', {
  category: 'audit_only',
  durable: true,
  deliverable: true,
  description: 'The operator wrote a copy of the org, or of its log of facts, to files.',
  payload: z.strictObject({ what: z.enum(['org', 'audit']) }),
})

const change = { durable: true, deliverable: true } as const
const nothing = z.strictObject({})

export const orgUpdated = defineEvent('org.updated', {
  category: 'audit_only',
  deliverable: true,
  description: 'What the org is called or how it behaves was changed; the names of the fields.',
  payload: z.strictObject({
    fields: z.array(z.enum(['name', 'slug', 'timeZone', 'retentionDays', 'allowAnonymous', 'settings'])),
  }),
})

export const orgStopped = defineEvent('org.stopped', {
  ...change,
  category: 'activity',
  description: 'No agent of the org acts any more.',
  payload: nothing,
})

export const orgResumed = defineEvent('org.resumed', {
  ...change,
  category: 'activity',
  description: 'The org’s agents may act again.',
  payload: nothing,
})

export const orgArchived = defineEvent('org.archived', {
  ...change,
  category: 'audit_only',
  description: 'The org takes no more writes.',
  payload: nothing,
})

export const orgUnarchived = defineEvent('org.unarchived', {
  ...change,
  category: 'audit_only',
  description: 'The org takes writes again.',
  payload: nothing,
})

export const orgPurgeRequested = defineEvent('org.purge_requested', {
  ...change,
  category: 'audit_only',
  description: 'The org’s end has begun: nobody acts in it any more.',
  payload: nothing,
})

export const orgPurged = defineEvent('org.purged', {
  ...change,
  category: 'audit_only',
  description: 'The org’s end: what went with it is gone, and its slug is free.',
  payload: nothing,
})
