import { brandWithType } from '@pothos/core'
import { queryFromInfo } from '@pothos/plugin-prisma'
import DataLoader from 'dataloader'
import type { GraphQLResolveInfo } from 'graphql'
import { prisma } from '../db/prisma.ts'
import { findUniqueOf } from './builder.ts'
import type { Context } from './context.ts'
import type { NodeName } from './ids.ts'
import { oncePerPlace } from './once-per-place.ts'

type Row = { id: string }
type Model = { findMany: (query: object) => PromiseLike<Row[]> }

/**
 * A node of whatever type, as `node(id:)` gives it, where a list leads to many: one statement a type. Pothos' own field
 * reads them one by one.
 */
export function nodeById(
  context: Context,
  info: GraphQLResolveInfo,
  type: NodeName,
  id: string,
): Promise<object | null> {
  // Of each node, though the first one's is what is read: by it Pothos knows that the rows have what is selected of them.
  const query = queryFromInfo({ context, info, typeName: type as never })
  return oncePerPlace(info, type, () => nodesOf(type, query, context)).load(id)
}

function nodesOf(type: NodeName, query: object, context: Context): DataLoader<string, Row | null> {
  const model = (prisma as unknown as Record<string, Model>)[type.charAt(0).toLowerCase() + type.slice(1)]!
  return new DataLoader(async (ids: readonly string[]) => {
    const found = await model.findMany({ ...withId(query), where: anyOf(ids, findUniqueOf(type)(ids[0]!, context)) })
    for (const row of found) brandWithType(row, type as never)
    const rows = new Map(found.map((row) => [row.id, row]))
    return ids.map((id) => rows.get(id) ?? null)
  })
}

/**
 * Who may see a node does not depend on which it is, so the condition of one serves for all. An `id` that is not the node's
 * own is a part of that condition, such as "nobody".
 */
function anyOf(ids: readonly string[], { id, orgId_id: key, ...visible }: Where): object {
  const all: object[] = [{ id: { in: [...ids] } }, visible]
  if (key) all.push({ orgId: key.orgId })
  if (typeof id === 'object') all.push({ id })
  return { AND: all }
}

type Where = { id?: string | object; orgId_id?: { orgId: string; id: string } } & Record<string, unknown>

const withId = (query: { select?: object }) =>
  query.select === undefined ? query : { ...query, select: { ...query.select, id: true } }
