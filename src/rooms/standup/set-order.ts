import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { InvalidInputError, NotFoundError } from '../../graphql/errors.ts'
import type { Turn } from '../live/event-payloads.ts'
import { change, fact, noChange, type RoomChange } from '../room/change.ts'
import { lockRoom, requireHost } from '../room/lock-room.ts'
import { requirePhase } from './access.ts'
import { orderSet } from './events.ts'
import { orderStep, readOrder } from './order.ts'

type SetOrder = { roomId: string; userIds: readonly string[] }

/**
 * Rearranges those who have not spoken (ROOM-93). Whoever is not named, such as somebody who came meanwhile, follows in
 * the order there was; whoever has the turn keeps it.
 */
export async function setOrder(caller: UserCaller, { roomId, userIds }: SetOrder): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  requirePhase(room, 'speak')
  const order = await readOrder(room)
  requireWaiting(order, userIds)

  const hadTurn = ({ userId, spoken }: Turn) => spoken || userId === room.currentSpeakerId
  const waiting = order.filter((turn) => !hadTurn(turn)).map(({ userId }) => userId)
  const named = userIds.filter((userId) => userId !== room.currentSpeakerId)
  const asked = [...named, ...waiting.filter((userId) => !named.includes(userId))]
  if (asked.every((userId, at) => userId === waiting[at])) return noChange(room)

  const all = [...order.filter(hadTurn).map(({ userId }) => userId), ...asked]
  await sql`
    UPDATE rooms.standup_entries AS e SET speak_order = place.nth
    FROM unnest(${all}::uuid[]) WITH ORDINALITY AS place (user_id, nth)
    WHERE e.org_id = ${room.orgId} AND e.room_id = ${room.id} AND e.user_id = place.user_id`
  return change(caller, room, [await orderStep(room, fact(orderSet, { people: named.length }))])
}

function requireWaiting(order: readonly Turn[], userIds: readonly string[]): void {
  const turns = new Map(order.map((turn) => [turn.userId, turn]))
  const seen = new Set<string>()
  for (const [at, userId] of userIds.entries()) {
    const turn = turns.get(userId)
    if (!turn) throw new NotFoundError(`userIds.${at}`)
    const fault = turn.spoken ? 'has spoken' : seen.has(userId) ? 'is named twice' : null
    if (fault) throw new InvalidInputError([{ path: ['input', 'userIds', String(at)], message: fault }])
    seen.add(userId)
  }
}
