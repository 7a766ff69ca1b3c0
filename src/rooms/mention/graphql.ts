import { arg } from '../../graphql/arguments.ts'
import { builder } from '../../graphql/builder.ts'
import type { Context } from '../../graphql/context.ts'
import { costOfRows } from '../../graphql/list-cost.ts'
import { mutation } from '../../graphql/mutation.ts'
import { perViewer } from '../../graphql/per-viewer.ts'
import { userById } from '../../identity/index.ts'
import { ROOM_ERRORS } from '../room/errors.ts'
import { roomField } from '../room/payload-fields.ts'
import { addMention } from './add-mention.ts'
import { mentionsByViewer, mentionsOfViewer } from './loads.ts'
import { removeMention } from './remove-mention.ts'

const people = async (context: Context, ids: readonly string[]) => {
  const users = await Promise.all(ids.map((id) => userById(context, id)))
  return users.filter((user) => user !== null)
}

builder.prismaObjectField('Room', 'mentionsOfMe', (t) =>
  t.field({
    type: ['User'],
    ...costOfRows(5),
    ...perViewer('Who asked the viewer for help in this standup. Nobody else sees it.'),
    resolve: async ({ id }, _args, context) => people(context, await mentionsOfViewer(context, id)),
  }),
)

builder.prismaObjectField('Room', 'myMentions', (t) =>
  t.field({
    type: ['User'],
    ...costOfRows(5),
    ...perViewer('Whom the viewer asked for help in this standup.'),
    resolve: async ({ id }, _args, context) => people(context, await mentionsByViewer(context, id)),
  }),
)

const input = { roomId: arg.id('Room'), userId: arg.id('User').describe('Who is asked.') }

mutation('mentionAdd', {
  description:
    'Asks another member of the space for help with one’s blocker, in a standup that is not done. Only the two of them see ' +
    'it. Members may.',
  input,
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: addMention,
  payload: (t) => ({ room: roomField(t) }),
})

mutation('mentionRemove', {
  description: 'Takes back what the caller asked, in a standup that is not done.',
  input,
  errors: ROOM_ERRORS,
  needs: 'user',
  scope: 'rooms:write',
  run: removeMention,
  payload: (t) => ({ room: roomField(t) }),
})
