import { arg } from '../../graphql/arguments.ts'
import { builder } from '../../graphql/builder.ts'
import type { Context } from '../../graphql/context.ts'
import { encodeId } from '../../graphql/ids.ts'
import { mutation } from '../../graphql/mutation.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { ROOM_ERRORS } from '../room/errors.ts'
import { roomField } from '../room/payload-fields.ts'
import { actInRoom } from './act-in-room.ts'
import { PluginDisabledError, PluginFaultError } from './errors.ts'
import { type SeenState, seenBy } from './state.ts'

/** The state of a room of a plugin's kind as the viewer sees it; null for other kinds. */
export function stateSeen({ caller }: Context, { kind, state }: { kind: string; state: unknown }): SeenState | null {
  if (kind === 'poker' || kind === 'standup') return null
  return seenBy(state, caller?.userId ? encodeId('User', caller.userId) : null)
}

builder.prismaObjectField('Room', 'state', (t) =>
  t.field({
    type: 'JSON',
    nullable: true,
    ...perViewer(
      'Where a plugin brings the kind: `shared`, the same for all, and `private`, the viewer’s own part or null.',
    ),
    resolve: (room, _args, context) => stateSeen(context, room),
  }),
)

mutation('roomAct', {
  description:
    'Does what the room’s kind declares in `RoomKind.actions`, where a plugin brings it. Who may, and in which phase, stands there.',
  input: {
    roomId: arg.id('Room'),
    action: arg.text({ max: 64 }).describe('One of the kind’s actions.'),
    input: arg.json().describe('Fits the action’s `input` schema.'),
  },
  errors: [PluginDisabledError, PluginFaultError, ...ROOM_ERRORS],
  needs: 'user',
  scope: 'rooms:write',
  operations: 'own',
  run: actInRoom,
  payload: (t) => ({ room: roomField(t) }),
})
