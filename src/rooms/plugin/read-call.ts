import { sql } from '../../db/sql.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { ForbiddenError, NotFoundError } from '../../graphql/errors.ts'
import { encodeId } from '../../graphql/ids.ts'
import { isHost } from '../room/access.ts'
import { WrongPhaseError } from '../room/errors.ts'
import { type LockedRoom, requireOpen } from '../room/lock-room.ts'
import type { Action, Declaration } from './declaration.ts'
import { PluginDisabledError } from './errors.ts'
import { requireFit } from './json-schema.ts'
import { type ActCall, isEnabled } from './port.ts'
import { type State, withPartsOf } from './state.ts'

type Kind = { installId: string; declaration: Declaration }

/** What the kind of a room is now. Core kinds have no actions (ROOM-161). */
async function kindOf({ orgId, kind }: LockedRoom): Promise<Kind> {
  const [row] = await sql<{ provider: string; installId: string | null; actions: Declaration }>`
    SELECT provider, install_id AS "installId", actions FROM rooms.room_kinds WHERE org_id = ${orgId} AND kind = ${kind}`
  if (!row || row.provider === 'core') throw new NotFoundError('action')
  const { installId, actions } = row
  if (installId === null || !(await isEnabled(orgId, installId))) throw new PluginDisabledError()
  return { installId, declaration: actions }
}

export type Permitted = { readonly installId: string; readonly phases: readonly string[]; readonly action: Action }

/** Whether the caller may do that in the room as it is: who they are, then the phase, then the input (ROOM-161). */
export async function requirePermitted(
  caller: UserCaller,
  room: LockedRoom,
  { action, input }: { action: string; input?: unknown },
): Promise<Permitted> {
  const { installId, declaration } = await kindOf(room)
  const declared = Object.hasOwn(declaration.actions, action) ? declaration.actions[action] : undefined
  if (!declared) throw new NotFoundError('action')
  if (!isAmong(declared.who, caller, room)) throw new ForbiddenError()
  requireOpen(room)
  if (!declared.phases.includes(room.phase)) throw new WrongPhaseError(room.phase)
  requireFit(declared.input, input, ['input'])
  return { installId, phases: declaration.phases, action: declared }
}

/** Org viewers read and nothing else (ROOM-22). */
function isAmong(who: Action['who'], caller: UserCaller, room: LockedRoom): boolean {
  if (room.me.viewer) return false
  if (who === 'host') return isHost(caller, room)
  return who === 'participant' || room.me.kind === 'member'
}

/** What the plugin is told, and of whom it may keep something. */
export type ReadCall = { readonly call: ActCall; readonly owners: ReadonlySet<string> }

export async function readCall(
  caller: UserCaller,
  room: LockedRoom,
  installId: string,
  { action, input }: { action: string; input?: unknown },
): Promise<ReadCall> {
  const [states, people] = await Promise.all([
    sql<{ state: State }>`SELECT state FROM rooms.rooms WHERE org_id = ${room.orgId} AND id = ${room.id}`,
    sql<{ userId: string; guest: boolean; spectator: boolean; took: boolean }>`
      SELECT who.user_id AS "userId", who.kind = 'guest' AS guest, who.spectator, p.user_id IS NOT NULL AS took
      FROM rooms.room_people(${room.id}) AS who
      LEFT JOIN rooms.room_participants AS p
        ON p.org_id = ${room.orgId} AND p.room_id = ${room.id} AND p.user_id = who.user_id
      ORDER BY p.joined_at, who.user_id`,
  ])
  const owners = new Set(people.map(({ userId }) => idOf(userId)))
  const { id, kind, title, phase, version, config } = room
  return {
    owners,
    call: {
      orgId: room.orgId,
      installId,
      room: { id: encodeId('Room', id), kind, title, phase, version: String(version), config },
      action,
      input,
      actor: { id: idOf(caller.userId), role: roleOf(caller, room), spectator: room.me.spectator },
      participants: people
        .filter(({ took, userId }) => took || userId === caller.userId)
        .map(({ userId, guest, spectator }) => ({ id: idOf(userId), guest, spectator })),
      state: withPartsOf(states[0]?.state ?? { shared: null, private: {} }, owners),
    },
  }
}

const idOf = (userId: string) => encodeId('User', userId)

function roleOf(caller: UserCaller, room: LockedRoom): ActCall['actor']['role'] {
  if (isHost(caller, room)) return 'host'
  return room.me.kind === 'guest' ? 'guest' : 'member'
}
