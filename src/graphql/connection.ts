import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import { builder } from './builder.ts'
import type { Context } from './context.ts'
import type { NodeName } from './ids.ts'
import { keysetPage, keysetQuery, type Page, type PageArgs, type SortKey, sortSelection } from './keyset.ts'

/** A page and, asked for only where `totalCount` is selected, how many rows there are in all. */
export type Connection<Row = unknown> = Page<Row> & { total: () => Promise<number> | number }

/**
 * `<Name>Connection` and `<Name>Edge` of a node or object type, shared by every field that lists it; without a total where
 * nothing is to count its rows.
 */
export function connectionType(type: unknown, name: string, { counted = true }: { counted?: boolean } = {}) {
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
        ...(counted && {
          totalCount: t.int({
            description: 'Rows in the whole list; counted only when selected.',
            resolve: (parent) => (parent as unknown as Connection).total(),
          }),
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
type List<Row> = Pick<Listing, 'type' | 'order'> & {
  model: { findMany: (query: never) => PromiseLike<readonly Row[]>; count: (query: never) => PromiseLike<unknown> }
  where: (context: Context, args: object) => object | Promise<object>
  /** Done to each row that was read. */
  each?: (row: Row) => Row
}

/** Resolver of a list of its own: one statement a page, and one more for `totalCount`. */
export function pageOf<Row extends object>({ type, order, model, where, each = (row) => row }: List<Row>) {
  return async (
    _parent: unknown,
    args: PageArgs,
    context: Context,
    info: GraphQLResolveInfo,
  ): Promise<Connection<Row>> => {
    const condition = await where(context, args)
    const rows = await model.findMany(pageQuery({ context, info, type, args, order, where: condition }) as never)
    const total = async () => (await model.count({ where: condition } as never)) as number
    return { ...keysetPage(rows.map(each), args, order), total }
  }
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
