import { loginTokenOf } from '../session/preauth.ts'
import { signInSettings } from './settings.ts'
import { hashLoginToken } from './token.ts'

export type LoginTokenPreview = { orgName: string; purpose: 'sign_in' | 'invite'; expiresAt: string }

/** What the token would do; null when it would do nothing. Reads alone, so whatever opens a link spends it not (ID-25). */
export async function previewLoginToken({ token }: { token: string }): Promise<LoginTokenPreview | null> {
  const hash = hashLoginToken(token)
  const row = hash && (await loginTokenOf(hash))
  if (!row?.holds || row.role === null) return null
  const { purpose, joined, user_status: status, org_status: org, org_name: orgName, expires_at: expiresAt } = row
  if (org !== 'active' && org !== 'archived') return null
  const fits =
    purpose === 'sign_in'
      ? signInSettings().linkSignIn && joined && status === 'active'
      : !joined && (status === 'active' || status === 'invited')
  return fits ? { orgName, purpose, expiresAt: expiresAt.toISOString() } : null
}
