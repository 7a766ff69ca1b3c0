import { z } from 'zod'
import { defineEvent } from '../../platform/index.ts'
import { ROLES } from './role.ts'

const role = z.enum(ROLES)

export const memberInvited = defineEvent('member.invited', {
  category: 'audit_only',
  durable: true,
  deliverable: true,
  description: 'Somebody was invited into the org, for the first time or again.',
  payload: z.strictObject({ role }),
})

export const memberJoined = defineEvent('member.joined', {
  category: 'activity',
  durable: true,
  deliverable: true,
  description: 'Somebody became a member of the org.',
  payload: z.strictObject({ role }),
})

export const memberRoleChanged = defineEvent('member.role_changed', {
  category: 'audit_only',
  durable: true,
  deliverable: true,
  description: 'A member got another role.',
  payload: z.strictObject({ from: role, to: role }),
})

export const memberUpdated = defineEvent('member.updated', {
  category: 'audit_only',
  durable: true,
  deliverable: true,
  description: 'A member got another username; the names of the fields, not what they say.',
  payload: z.strictObject({ fields: z.array(z.enum(['username'])) }),
})

export const memberRevoked = defineEvent('member.revoked', {
  category: 'audit_only',
  durable: true,
  deliverable: true,
  description: 'A membership was ended by somebody else.',
  payload: z.strictObject({ role }),
})

export const memberLeft = defineEvent('member.left', {
  category: 'audit_only',
  durable: true,
  deliverable: true,
  description: 'Somebody ended their own membership.',
  payload: z.strictObject({ role }),
})
