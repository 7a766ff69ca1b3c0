import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { change, fact, noChange, type RoomChange, type Step } from '../room/change.ts'
import { lockRoom, requireHost } from '../room/lock-room.ts'
import { timerStoppedStep } from '../timer/steps.ts'
import { requireActivePoker } from './access.ts'
import { roundReset } from './events.ts'
import type { PokerRoom } from './poker-room.ts'
import { snapshotVoters } from './round-voters.ts'
import { waitingForIds } from './waiting.ts'

/** Removes all votes of the story on the table, which is hidden again, in a new round (ROOM-65). Its estimate stays. */
export async function resetRound(caller: UserCaller, { roomId }: { roomId: string }): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  requireActivePoker(room)
  const { currentStoryId: storyId } = room
  if (storyId === null) return noChange(room)

  await Promise.all([
    sql`SELECT rooms.round_clear(${storyId})`,
    sql`
      UPDATE rooms.stories SET revealed_at = NULL
      WHERE org_id = ${room.orgId} AND id = ${storyId} AND revealed_at IS NOT NULL`,
    room.config.openVoting && snapshotVoters(room, storyId),
  ])
  const next = { ...room, revealed: false, roundVersion: room.roundVersion + 1n }
  return change(caller, room, [...timerStoppedStep(room), await resetStep(next, storyId)])
}

async function resetStep(room: PokerRoom, storyId: string): Promise<Step> {
  const round = { storyId, roundVersion: String(room.roundVersion) }
  return {
    type: 'RoundReset',
    payload: { ...round, waitingForIds: await waitingForIds(room) },
    set: { revealed: false, poker_round_version: room.roundVersion },
    fact: fact(roundReset, round, { kind: 'Story', id: storyId }),
  }
}
