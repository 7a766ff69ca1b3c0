import { sql, sqlOne } from '../../db/sql.ts'
import { inviteMail } from './mails.ts'
import { signInSettings } from './settings.ts'
import { newLoginToken } from './token.ts'

/** What the mail carries; shown to nobody else. */
export type InviteToken = { token: string; expiresAt: Date }

type Invited = { orgId: string; userId: string; createdBy: string | null }

/**
 * An invitation's token, good for seven days, in the write operation that makes or reopens the membership; what was sent
 * to that person before opens nothing any more (ID-34, 35). The mail follows after the commit.
 */
export async function createInviteToken({ orgId, userId, createdBy }: Invited): Promise<InviteToken> {
  await voidInvites(orgId, userId)
  const { token, hash } = newLoginToken()
  const { expires_at: expiresAt } = await sqlOne<{ expires_at: Date }>`
    INSERT INTO identity.login_tokens (org_id, user_id, purpose, token_hash, expires_at, created_by)
    VALUES (${orgId}, ${userId}, 'invite', ${hash}, now() + interval '7 days', ${createdBy})
    RETURNING expires_at`
  return { token, expiresAt }
}

/** Invitations of the person to the org that are still open open nothing from here on (ID-35, 38). */
export async function voidInvites(orgId: string, userId: string): Promise<void> {
  await sql`
    UPDATE identity.login_tokens SET voided_at = now()
    WHERE org_id = ${orgId} AND user_id = ${userId} AND purpose = 'invite' AND used_at IS NULL AND voided_at IS NULL`
}

/** How many were sent to the person by the org within the hour (ID-35). */
export async function invitesOfLastHour(orgId: string, userId: string): Promise<number> {
  const { invites } = await sqlOne<{ invites: number }>`
    SELECT count(*)::integer AS invites FROM identity.login_tokens
    WHERE org_id = ${orgId} AND user_id = ${userId} AND purpose = 'invite' AND created_at > now() - interval '1 hour'`
  return invites
}

type Invitation = { email: string; orgName: string; inviterName: string | null; invite: InviteToken }

/** After the commit; returns at once. */
export function sendInviteMail({ email, orgName, inviterName, invite }: Invitation): void {
  const { mailer, frontendUrl } = signInSettings()
  mailer.send({ to: email, ...inviteMail({ orgName, inviterName, token: invite.token, frontendUrl }) })
}
