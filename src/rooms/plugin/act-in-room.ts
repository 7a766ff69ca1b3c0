import { operation } from '../../db/operation.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { type Context, scopeOf } from '../../graphql/context.ts'
import { ConflictError } from '../../graphql/errors.ts'
import { change, fact, type RoomChange, type Step } from '../room/change.ts'
import { endSteps } from '../room/end-room.ts'
import { lockRoom, lookAtRoom } from '../room/lock-room.ts'
import { askPlugin, type Outcome } from './ask-plugin.ts'
import { PluginFaultError } from './errors.ts'
import { roomActed } from './events.ts'
import { isBeyond } from './new-room.ts'
import { readCall, requirePermitted } from './read-call.ts'
import { STATE_MAX } from './state.ts'

type Act = { roomId: string; action: string; input?: unknown }

const TRIES = 3

/** The room moved on while the plugin thought; nothing of what it answered counts. */
class StaleError extends Error {}

/**
 * Does in a room what its plugin declares (ROOM-161). The plugin is asked between two operations, and its answer counts
 * if the room is still the one it was asked about; else all is done again.
 */
export async function actInRoom(caller: UserCaller, act: Act, { requestId }: Context): Promise<RoomChange> {
  const scope = scopeOf(caller, requestId)
  for (let tries = 1; ; tries++) {
    const read = await operation('read', scope, async () => {
      const room = await lookAtRoom(caller, act.roomId)
      const permitted = await requirePermitted(caller, room, act)
      return { permitted, version: room.version, ...(await readCall(caller, room, permitted.installId, act)) }
    })
    const outcome = await askPlugin(read)
    try {
      return await operation('write', scope, () => commit(caller, act, read.version, outcome))
    } catch (error) {
      if (!(error instanceof StaleError)) throw error
      if (tries === TRIES) throw new ConflictError('Others act in this room at the same time.')
    }
  }
}

async function commit(caller: UserCaller, act: Act, version: bigint, outcome: Outcome): Promise<RoomChange> {
  const room = await lockRoom(caller, act.roomId)
  if (room.version !== version) throw new StaleError()
  await requirePermitted(caller, room, act) // the plugin may be off by now, and the caller may do less
  const { state, phase } = outcome
  if (state && (await isBeyond(state, STATE_MAX))) throw new PluginFaultError(false)
  const ends = phase === 'done'
  const acted: Step = {
    type: 'RoomActionApplied',
    payload: { action: act.action, phase },
    set: { ...(state && { state }), ...(!ends && phase !== room.phase && { phase }) },
    fact: fact(roomActed, { action: act.action, phase }),
  }
  return change(caller, room, [acted, ...(ends ? await endSteps(room) : [])])
}
