import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'

export const SESSION_METHODS = [
  'password',
  'magic_link',
  'code',
  'invite',
  'oidc',
  'embed',
  'anonymous',
  'guest_link',
] as const
export type SessionMethod = (typeof SESSION_METHODS)[number]

/** Why a session was ended by other than signing out. */
export const REVOKE_REASONS = ['user', 'admin', 'role', 'link', 'erased', 'limit'] as const
export type RevokeReason = (typeof REVOKE_REASONS)[number]

export const sessionCreated = defineEvent('session.created', {
  category: 'audit_only',
  description: 'Somebody signed in.',
  payload: z.strictObject({ method: z.enum(SESSION_METHODS) }),
})

export const sessionEnded = defineEvent('session.ended', {
  category: 'audit_only',
  description: 'Somebody signed out.',
  payload: z.strictObject({}),
})

export const sessionSwitched = defineEvent('session.switched', {
  category: 'audit_only',
  description: 'Somebody came into the org with a session that was active in another one.',
  payload: z.strictObject({}),
})

export const sessionRevoked = defineEvent('session.revoked', {
  category: 'audit_only',
  description: 'A session was ended from outside: by its person elsewhere, by an admin, or as a consequence.',
  payload: z.strictObject({ userId: nodeId('User'), reason: z.enum(REVOKE_REASONS) }),
})

const FAULTS = ['no_password', 'not_active', 'wrong_password', 'wrong_code', 'no_code', 'token_spent'] as const
export type SignInFault = (typeof FAULTS)[number]

export const signInFailed = defineEvent('auth.sign_in_failed', {
  category: 'audit_only',
  description: 'Somebody tried to sign in as a person of the org and did not get in.',
  payload: z.strictObject({ method: z.enum(SESSION_METHODS), reason: z.enum(FAULTS) }),
})
