import { operation } from '../../db/operation.ts'
import { sql, sqlAlone, sqlOne } from '../../db/sql.ts'
import type { Account } from '../../graphql/caller.ts'
import type { KeyStandingRow } from '../api-key/principal.ts'
import type { SessionLife } from '../settings.ts'

/**
 * The one caller of `preauth_*`: what must be known before an operation has an org. Whatever it leads to runs afterwards
 * in an operation of that org.
 */
const preauth = <T>(body: () => Promise<T>): Promise<T> => operation('preauth', {}, body)
/** The same for the one statement that every request or event asks. */
const preauthSql = sqlAlone('preauth', {})

/** What decides how far a session reaches. */
export type StandingRow = {
  session_id: string
  org_id: string
  user_id: string
  account: Account
  embedded: boolean
  room_id: string | null
  /** Of a live membership in the session's org. */
  role: string | null
  ends_at: Date
}

export type SessionRow = StandingRow & {
  user_status: string
  org_status: string
  csrf_hash: Buffer | null
  revoked: boolean
  ended: boolean
}

export async function findSession(tokenHash: Buffer, { idle, max }: SessionLife): Promise<SessionRow | undefined> {
  const [row] = await preauthSql<SessionRow>`
    SELECT s.session_id, s.org_id, s.user_id, s.account, s.user_status, s.embedded, s.room_id, s.csrf_hash, s.role,
      s.org_status, s.revoked_at IS NOT NULL AS revoked, life.ends_at, life.ends_at <= clock_timestamp() AS ended
    FROM identity.preauth_session(${tokenHash}) AS s,
      LATERAL identity.session_end(s.created_at, s.last_seen_at, s.expires_at, ${idle}, ${max}) AS life (ends_at)`
  return row
}

/** Of these sessions the ones that hold. */
export function findStandings(sessionIds: readonly string[], { idle, max }: SessionLife): Promise<StandingRow[]> {
  return preauthSql<StandingRow>`SELECT * FROM identity.preauth_standings(${sessionIds}, ${idle}, ${max})`
}

export type KeyRow = KeyStandingRow & {
  secret_hash: Buffer
  pepper_id: number
  expires_at: Date | null
  revoked_at: Date | null
  /** Milliseconds by the database's clock; null: for ever. */
  ends_in: number | null
}

export async function findKey(prefix: string): Promise<KeyRow | undefined> {
  const [row] = await preauthSql<KeyRow>`SELECT * FROM identity.preauth_api_key(${prefix})`
  return row
}

/** Of these keys the ones that hold. */
export function findKeyStandings(
  keys: readonly { orgId: string; keyId: string }[],
): Promise<(KeyStandingRow & { expires_at: Date | null })[]> {
  const [orgIds, keyIds] = [keys.map(({ orgId }) => orgId), keys.map(({ keyId }) => keyId)]
  return preauthSql`SELECT * FROM identity.preauth_key_standings(${orgIds}, ${keyIds})`
}

export type PasswordRow = {
  user_id: string
  status: string
  password_hash: string | null
  /** Of live memberships, the most recently used first. */
  org_ids: string[]
}

export async function findPassword(email: string): Promise<PasswordRow | undefined> {
  const [row] = await preauth(() => sql<PasswordRow>`SELECT * FROM identity.preauth_password(${email})`)
  return row
}

export type OrgRow = { org_id: string; status: string; allow_anonymous: boolean }

export async function findOrg(slug: string): Promise<OrgRow | undefined> {
  const [row] = await preauth(() => sql<OrgRow>`SELECT * FROM identity.preauth_org_by_slug(${slug})`)
  return row
}

/** The person with that email, registered in whichever org. */
export async function findPerson(email: string): Promise<{ user_id: string; status: string } | undefined> {
  const [row] = await preauth(
    () => sql<{ user_id: string; status: string }>`
      SELECT user_id, status FROM identity.preauth_user_by_email(${email}) LIMIT 1`,
  )
  return row
}

/**
 * In the write operation that makes the session: whether this hash still is the password of the operation's own person,
 * who is locked from here on.
 */
export async function confirmPassword(verified: string, rewritten: string | null): Promise<boolean> {
  const { confirmed } = await sqlOne<{ confirmed: boolean }>`
    SELECT identity.preauth_confirm_password(${verified}, ${rewritten}) AS confirmed`
  return confirmed
}

export type UserOrgRow = { org_id: string; slug: string; name: string; status: string; role: string }

/** In an operation of that person: where they can go. */
export function findUserOrgs(userId: string): Promise<UserOrgRow[]> {
  return sql<UserOrgRow>`
    SELECT org_id, slug, name, status, role FROM identity.preauth_user_orgs(${userId})`
}

/** Whom a provider's identity is linked to; the orgs of live memberships, the most recently used first. */
export async function findPersonByIdentity(
  issuer: string,
  subject: string,
): Promise<{ user_id: string; status: string; org_ids: string[] } | undefined> {
  const [row] = await preauth(
    () => sql<{ user_id: string; status: string; org_ids: string[] }>`
      SELECT * FROM identity.preauth_user_by_oidc(${issuer}, ${subject})`,
  )
  return row
}

type NewHandoff = { hash: Buffer; displayCode: string; provider: string; clientKey: string }
export type BegunHandoff = {
  outcome: 'started' | 'taken' | 'full'
  expires_at: Date | null
  wait_seconds: number | null
}

export function beginHandoff({ hash, displayCode, provider, clientKey }: NewHandoff): Promise<BegunHandoff> {
  return preauth(
    () => sqlOne<BegunHandoff>`
      SELECT * FROM identity.preauth_embed_start(${hash}, ${displayCode}, ${provider}, ${clientKey})`,
  )
}

/** In a write operation of whoever binds it. */
export async function bindHandoffTo(
  hash: Buffer,
  displayCode: string,
): Promise<'bound' | 'taken' | 'wrong_code' | 'absent'> {
  const { outcome } = await sqlOne<{ outcome: 'bound' | 'taken' | 'wrong_code' | 'absent' }>`
    SELECT identity.preauth_embed_bind(${hash}, ${displayCode}) AS outcome`
  return outcome
}

export type HandoffRow = { user_id: string | null; org_id: string | null; expires_at: Date }

/** A hand-off that can still be bound or used. */
export async function findHandoff(hash: Buffer): Promise<HandoffRow | undefined> {
  const [row] = await preauth(
    () => sql<HandoffRow>`
      SELECT user_id, org_id, expires_at FROM identity.preauth_embed_redeem(${hash}, false)`,
  )
  return row
}

/** In the write operation that makes its session: whether it was there to be used, and is now. */
export async function useHandoff(hash: Buffer): Promise<boolean> {
  return (await sql`SELECT FROM identity.preauth_embed_redeem(${hash}, true)`).length > 0
}

export type LoginTokenRow = {
  token_id: string
  org_id: string
  user_id: string
  purpose: 'sign_in' | 'invite'
  expires_at: Date
  /** Neither used nor voided nor expired. */
  holds: boolean
  /** Of the membership it was made for, unless that is revoked. */
  role: string | null
  joined: boolean
  user_status: string
  org_name: string
  org_status: string
}

/** What a mailed token opens; in an operation of the caller's. */
export async function loginTokenOf(hash: Buffer): Promise<LoginTokenRow | undefined> {
  const [row] = await sql<LoginTokenRow>`
    SELECT token_id, org_id, user_id, purpose, expires_at, role, joined_at IS NOT NULL AS joined, user_status, org_name,
      org_status, used_at IS NULL AND voided_at IS NULL AND expires_at > clock_timestamp() AS holds
    FROM identity.preauth_login_token(${hash})`
  return row
}

export const findLoginToken = (hash: Buffer): Promise<LoginTokenRow | undefined> => preauth(() => loginTokenOf(hash))

export type CodeTokenRow = { token_id: string; org_id: string; code_hash: Buffer }

/** The newest token of the person that holds and has a code. */
export async function findCodeToken(userId: string): Promise<CodeTokenRow | undefined> {
  const [row] = await preauth(
    () => sql<CodeTokenRow>`SELECT token_id, org_id, code_hash FROM identity.preauth_code_token(${userId})`,
  )
  return row
}

export type AddresseeRow = {
  user_id: string
  status: string
  org_id: string | null
  org_name: string | null
  /** A member of an org that one can sign in to. */
  live: boolean
  open_token: boolean
  tokens_last_hour: number
}

/** Whom a sign-in mail reaches: a row per membership, the org used last first; in an operation of the caller's. */
export function addresseeOf(email: string): Promise<AddresseeRow[]> {
  return sql<AddresseeRow>`
    SELECT user_id, status, org_id, org_name, open_token, tokens_last_hour,
      joined_at IS NOT NULL AND org_status IN ('active', 'archived') AS live
    FROM identity.preauth_user_by_email(${email})`
}

export const findAddressee = (email: string): Promise<AddresseeRow[]> => preauth(() => addresseeOf(email))

/** In an operation of that person: the hash that their password is compared with. */
export async function ownPasswordHash(): Promise<string | null> {
  const { hash } = await sqlOne<{ hash: string | null }>`SELECT identity.preauth_own_password() AS hash`
  return hash
}

/** Whether the operation's own person has a password. */
export async function hasPassword(): Promise<boolean> {
  const { has } = await sqlOne<{ has: boolean }>`SELECT identity.preauth_own_password() IS NOT NULL AS has`
  return has
}
