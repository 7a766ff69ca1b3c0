import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import type { World } from '../support/world.ts'

/** Nobody is away: what plays before this one added is gone. */
export const nobodyAway = (world: World): Promise<unknown> => world.sql('DELETE FROM rooms.standup_away')

/** Days on which somebody with standing is away; of whoever has none, the id of nothing. */
export async function awayRangeOf(world: World, { orgId, userId }: Actor): Promise<string> {
  const id = newId()
  await world.sql(
    `INSERT INTO rooms.standup_away (org_id, id, user_id, starts_on, ends_on)
     SELECT $1, $2, u.id, '2026-07-01', '2026-07-02' FROM identity.users AS u
     WHERE u.id = $3 AND u.account <> 'guest' AND identity.has_standing($1, u.id)`,
    [orgId, id, userId],
  )
  return encodeId('AwayRange', id)
}

/** Every member of an org has a calendar feed that reminds half an hour before. */
export const withFeeds = (world: World): Promise<unknown> =>
  world.sql(
    `INSERT INTO rooms.ics_feed_tokens (org_id, user_id, token_hash, lookup_prefix, remind_minutes)
     SELECT org_id, user_id, sha256(uuid_send(gen_random_uuid())), left(md5(random()::text), 8), 30
     FROM identity.memberships WHERE joined_at IS NOT NULL AND revoked_at IS NULL
     ON CONFLICT (org_id, user_id) DO UPDATE
     SET token_hash = excluded.token_hash, remind_minutes = 30, revoked_at = NULL`,
  )
