import { builder } from '../../graphql/builder.ts'

type Kind = { kind: string; display: string; provider: string; actions: unknown }

export const RoomKindType = builder.objectRef<Kind>('RoomKind').implement({
  description: 'What a room can be.',
  fields: (t) => ({
    kind: t.exposeString('kind', { description: 'Names it in `roomCreate`.' }),
    display: t.exposeString('display', { description: 'For people.' }),
    provider: t.exposeString('provider', { description: '`core`, or the plugin it comes from.' }),
    actions: t.field({
      type: 'JSON',
      description: 'What can be done in such a room, where a plugin declares it.',
      resolve: ({ actions }) => actions,
    }),
  }),
})
