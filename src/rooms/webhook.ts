import { builder } from '../graphql/builder.ts'
import { meets } from '../graphql/caller.ts'
import { perViewer } from '../graphql/per-viewer.ts'
import { seesSpace, spaceById } from './space/loads.ts'

builder.prismaObjectField('Webhook', 'space', (t) =>
  t.field({
    type: 'Space',
    nullable: true,
    ...perViewer('The space whose own it is; null for one of the whole org.'),
    resolve: async ({ spaceId }, _args, context) => {
      if (spaceId === null) return null
      // Owners and admins of the org see the endpoint, and the space in the directory.
      const known = meets('admin', context.caller) || (await seesSpace(context, spaceId))
      return known ? spaceById(context, spaceId) : null
    },
  }),
)
