import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import { builder } from './builder.ts'
import type { Context } from './context.ts'
import type { NodeName } from './ids.ts'
import { keysetPage, keysetQuery, type Page, type PageArgs, type SortKey, sortSelection } from './keyset.ts'

/** A page and, asked for only where `totalCount` is selected, how many rows there are in all. */
export type Connection<Row = unknown> = Page<Row> & { total: () => Promise<number> | number }

/** `<Name>Connection` and `<Name>Edge` of a node or object type, shared by every field that lists it. */
export function connectionType(type: unknown, name: string) {
  const edge = builder.edgeObject({
    type: type as never,
    name: `${name}Edge`,
    description: 'A row of the list with its cursor.',
  })
  const connection = builder.connectionObject(
    {
      type: type as never,
      name: `${name}Connection`,
      description: 'One page of a list.',
      fields: (t) => ({
        nodes: t.field({
          type: [type as never],
          description: 'The rows of this page without their cursors.',
          resolve: (parent) => (parent as unknown as Connection).edges.map(({ node }) => node) as never,
        }),
        totalCount: t.int({
          description: 'Rows in the whole list; counted only when selected.',
          resolve: (parent) => (parent as unknown as Connection).total(),
        }),
      }),
    },
    edge,
  )
  return [connection, edge] as const
}

type Query = { where: object; orderBy: object[]; take: number }
/** What every list is read by. */
export type Listing = {
  context: Context
  info: GraphQLResolveInfo
  type: NodeName | (string & {})
  args: PageArgs
  order: readonly SortKey[]
  where: object
}
type List<Row> = Listing & {
  find: (query: never) => PromiseLike<readonly Row[]>
  count: (query: never) => PromiseLike<number>
}

/** One page of a root list: one statement, and one more for `totalCount`. */
export async function pageOf<Row extends object>({ find, count, ...list }: List<Row>): Promise<Connection<Row>> {
  const { args, order, where } = list
  const rows = await find(pageQuery(list) as never)
  return { ...keysetPage(rows, args, order), total: () => Promise.resolve(count({ where } as never)) }
}

/** What to read for one page: what of its rows is selected, their order, and no more of them than it holds. */
export function pageQuery({ context, info, type, args, order, where }: Listing): Query {
  const keyset = keysetQuery(args, order)
  const selection = queryFromInfo({
    context,
    info,
    typeName: type as never,
    paths: [['edges', 'node'], ['nodes']],
    select: sortSelection(order) as never,
  })
  return { ...selection, ...keyset, where: { AND: [where, keyset.where] } }
}
