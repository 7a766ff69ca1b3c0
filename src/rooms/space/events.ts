import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'
import { inSpace } from './projection.ts'

const userId = nodeId('User')

export const spaceCreated = defineEvent('space.created', {
  category: 'activity',
  deliverable: true,
  description: 'A space was made.',
  payload: z.strictObject({ slug: z.string() }),
  projection: inSpace,
})

export const memberJoined = defineEvent('space.member_joined', {
  category: 'activity',
  deliverable: true,
  description: 'Somebody joined a space by themselves.',
  payload: z.strictObject({ userId }),
  projection: inSpace,
})

export const memberAdded = defineEvent('space.member_added', {
  category: 'activity',
  deliverable: true,
  description: 'An owner added somebody to a space.',
  payload: z.strictObject({ userId, spectator: z.boolean() }),
  projection: inSpace,
})

export const spaceUpdated = defineEvent('space.updated', {
  category: 'audit_only',
  description: 'An owner changed a space’s name, slug or passcode.',
  payload: z.strictObject({ fields: z.array(z.enum(['slug', 'name', 'passcode'])) }),
  projection: inSpace,
})

export const memberLeft = defineEvent('space.member_left', {
  category: 'audit_only',
  deliverable: true,
  description: 'Somebody left a space.',
  payload: z.strictObject({ userId }),
  projection: inSpace,
})

export const memberRemoved = defineEvent('space.member_removed', {
  category: 'audit_only',
  deliverable: true,
  description: 'Somebody was removed from a space, by an owner or with their membership of the org.',
  payload: z.strictObject({ userId, reason: z.enum(['owner', 'membership']) }),
  projection: inSpace,
})

export const memberRoleSet = defineEvent('space.member_role_set', {
  category: 'audit_only',
  description: 'A member became owner of a space, or an owner a member.',
  payload: z.strictObject({ userId, role: z.enum(['owner', 'member']) }),
  projection: inSpace,
})

export const spectatorSet = defineEvent('space.spectator_set', {
  category: 'audit_only',
  description: 'Somebody watches from now on, or takes part again.',
  payload: z.strictObject({ userId, spectator: z.boolean(), voteWithdrawn: z.boolean() }),
  projection: inSpace,
})

// Custody (ROOM-19): what admins of the org, and owners, do to a space as a whole.

const inCustody = { category: 'audit_only', durable: true, projection: inSpace } as const

export const spaceArchived = defineEvent('space.archived', {
  ...inCustody,
  description: 'An admin of the org took a space out of the directory.',
  payload: z.strictObject({}),
})

export const spaceUnarchived = defineEvent('space.unarchived', {
  ...inCustody,
  description: 'An admin of the org put a space into the directory again.',
  payload: z.strictObject({}),
})

export const spaceClaimed = defineEvent('space.claimed', {
  ...inCustody,
  description: 'An admin of the org became owner of an abandoned space.',
  payload: z.strictObject({ userId }),
})

export const ownerAdded = defineEvent('space.owner_added', {
  ...inCustody,
  description: 'An admin of the org made a member of a space its owner.',
  payload: z.strictObject({ userId }),
})

export const spaceDeleted = defineEvent('space.deleted', {
  ...inCustody,
  description: 'A space was deleted with everything in it.',
  payload: z.strictObject({ slug: z.string() }),
})
