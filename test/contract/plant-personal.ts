import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import type { World } from '../support/world.ts'
import { UNSEEN } from './plant-unseen.ts'
import type { Planted } from './planted.ts'

/** What of a person nobody else sees: when they are away, and that a calendar of theirs comes by. */
export async function plantPersonal(
  world: World,
  planted: Planted,
  name: string,
  { orgId, userId }: Actor,
): Promise<void> {
  const id = newId()
  planted.id(`away:${name}`, 'AwayRange', id)
  await world.sql(
    `INSERT INTO rooms.standup_away (org_id, id, user_id, starts_on, ends_on)
     VALUES ($1, $2, $3, '2026-07-01', '2026-07-02')`,
    [orgId, id, userId],
  )
  await world.sql(
    `INSERT INTO rooms.ics_feed_tokens (org_id, user_id, token_hash, lookup_prefix, remind_minutes)
     VALUES ($1, $2, sha256(convert_to($3, 'UTF8')), $3, 15)`,
    [orgId, userId, planted.mark(UNSEEN, 'CalendarFeed.lookupPrefix', (mark) => mark.padEnd(8, 'x'))],
  )
}
