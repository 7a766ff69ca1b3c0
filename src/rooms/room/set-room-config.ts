import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { requireActivePoker } from '../poker/access.ts'
import { hasOpenRound, type OpenRound, type PokerSetting } from '../poker/poker-room.ts'
import { revealIfComplete } from '../poker/reveal-if-complete.ts'
import { snapshotVoters } from '../poker/round-voters.ts'
import { waitingForIds } from '../poker/waiting.ts'
import { change, fact, noChange, type RoomChange, type Step } from './change.ts'
import { configSet } from './events.ts'
import { lockRoom, requireHost } from './lock-room.ts'

type SetRoomConfig = { roomId: string; change: { [K in PokerSetting]?: boolean | undefined } }

/**
 * Turns a setting of a poker room on or off (ROOM-35). Whom the round on the table waits for follows at once, and the
 * round may be complete by it (ROOM-66).
 */
export async function setRoomConfig(caller: UserCaller, { roomId, change: asked }: SetRoomConfig): Promise<RoomChange> {
  const room = await lockRoom(caller, roomId)
  requireHost(caller, room)
  requireActivePoker(room)
  const setting = asked.autoReveal === undefined ? 'openVoting' : 'autoReveal'
  const on = asked[setting] === true
  if (room.config[setting] === on) return noChange(room)

  const next = { ...room, config: { ...room.config, [setting]: on } }
  const steps: Step[] = [
    {
      type: 'RoomChanged',
      payload: { title: room.title, kind: room.kind, config: next.config },
      set: { config: next.config },
      fact: fact(configSet, { setting, on }),
    },
  ]
  if (setting === 'openVoting' && hasOpenRound(next)) steps.push(await waitingStep(next))
  return change(caller, room, [...steps, ...(await revealIfComplete(next))])
}

/** With open voting the round waits for those who take part now, without it for whoever is present. */
async function waitingStep(room: OpenRound): Promise<Step> {
  const storyId = room.currentStoryId
  await sql`DELETE FROM rooms.round_voters WHERE org_id = ${room.orgId} AND story_id = ${storyId}`
  if (room.config.openVoting) await snapshotVoters(room, storyId)
  return { type: 'RoundVotersChanged', payload: { waitingForIds: await waitingForIds(room) } }
}
