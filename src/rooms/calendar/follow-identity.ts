import { sqlOne } from '../../db/sql.ts'
import { type MembershipRevoked, onMembershipRevoked } from '../../identity/index.ts'
import { record } from '../../platform/index.ts'
import { feedRevoked } from './events.ts'

/** Whoever is no member of the org any more reads nothing of it, by their calendar neither (ROOM-23, 140). */
async function endFeed({ userId, by }: MembershipRevoked): Promise<void> {
  const { revoked } = await sqlOne<{ revoked: boolean }>`SELECT rooms.ics_feed_revoke(${userId}) AS revoked`
  if (revoked) await record(by, feedRevoked, { privateUserId: userId, payload: {} })
}

onMembershipRevoked(endFeed)
