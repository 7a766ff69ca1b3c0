import { builder } from '../../graphql/builder.ts'
import type { Connection } from '../../graphql/connection.ts'

export const KudosEdge = builder.edgeObject({
  type: 'Kudos' as never,
  name: 'KudosEdge',
  description: 'A row of the list with its cursor.',
})

/** A page without a total: nothing counts kudos (ROOM-110). */
export const KudosConnection = builder.connectionObject(
  {
    type: 'Kudos' as never,
    name: 'KudosConnection',
    description: 'One page of a list.',
    fields: (t) => ({
      nodes: t.field({
        type: ['Kudos' as never],
        description: 'The rows of this page without their cursors.',
        resolve: (parent) => (parent as unknown as Connection).edges.map(({ node }) => node) as never,
      }),
    }),
  },
  KudosEdge,
)
