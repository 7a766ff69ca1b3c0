import { z } from 'zod'
import { defineEvent } from '../../platform/index.ts'
import { ROLES } from './role.ts'

const role = z.enum(ROLES)

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

export const memberRevoked = defineEvent('member.revoked', {
  category: 'audit_only',
  durable: true,
  deliverable: true,
  description: 'A membership was ended by somebody else.',
  payload: z.strictObject({ role }),
})
