import { z } from 'zod'
import { defineEvent } from '../../platform/index.ts'

export const oidcLinked = defineEvent('user.oidc_linked', {
  category: 'audit_only',
  description: 'Somebody let an identity of the OpenID Connect provider sign them in.',
  payload: z.strictObject({}),
})

export const oidcUnlinked = defineEvent('user.oidc_unlinked', {
  category: 'audit_only',
  description: 'Somebody took that back.',
  payload: z.strictObject({}),
})
