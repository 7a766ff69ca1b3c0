import type { Actor } from '../support/actor.ts'
import type { World } from '../support/world.ts'
import type { Planted } from './planted.ts'

/** What no query shows to anybody. */
export const UNSEEN = 'unseen'

/** What signing in by mail leaves behind, which no query shows. */
export async function plantMailed(world: World, planted: Planted, { orgId, userId }: Actor): Promise<void> {
  await world.sql(
    `INSERT INTO identity.login_tokens (org_id, user_id, purpose, token_hash, expires_at, user_agent)
     VALUES ($1, $2, 'sign_in', sha256('planted'), now() + interval '1 day', $3)`,
    [orgId, userId, planted.mark(UNSEEN, 'LoginToken.userAgent')],
  )
  await world.sql('INSERT INTO identity.waitlist (email, note) VALUES ($1, $2)', [
    planted.mark(UNSEEN, 'Waitlist.email', (mark) => `${mark}@example.org`),
    planted.mark(UNSEEN, 'Waitlist.note'),
  ])
}

/** A request under a key, which nobody is shown: whoever sent it knows. */
export async function plantRetried(world: World, planted: Planted, { orgId, userId }: Actor): Promise<void> {
  await world.sql(
    `INSERT INTO platform.idempotency_keys (org_id, actor_id, key, fingerprint, locked_by, locked_until, expires_at)
     VALUES ($1, $2, $3, sha256('planted'), platform.new_id(), now() + interval '1 day', now() + interval '1 day')`,
    [orgId, userId, planted.mark(UNSEEN, 'IdempotencyKey.key')],
  )
}
