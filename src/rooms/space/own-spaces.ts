import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import { prisma } from '../../db/prisma.ts'
import type { Space } from '../../generated/prisma/client.ts'
import { hasScope, meets } from '../../graphql/caller.ts'
import type { Connection } from '../../graphql/connection.ts'
import type { Context } from '../../graphql/context.ts'
import { InvalidInputError } from '../../graphql/errors.ts'
import { decodeId, encodeId } from '../../graphql/ids.ts'
import { encodeCursor, keysetPage, keysetQuery, type PageArgs, type SortKey } from '../../graphql/keyset.ts'
import { instantText } from '../../graphql/scalars.ts'

const LAST_SEEN: readonly SortKey[] = [
  { field: 'lastSeenAt', type: 'instant', descending: true },
  { field: 'spaceId', type: 'uuid', descending: true },
]

type OwnSpace = { lastSeenAt: string; spaceId: string; space: Space }

/**
 * The viewer's own spaces, the one seen last first. When somebody was last seen is told to nobody, so a cursor names the
 * space and its time is looked up again (ROOM-15).
 */
export async function ownSpaces(
  context: Context,
  given: PageArgs,
  info: GraphQLResolveInfo,
): Promise<Connection<Space>> {
  const { caller } = context
  const own = { userId: meets('participant', caller) && hasScope('rooms:read', caller) ? caller.userId : { in: [] } }
  const args: PageArgs = {
    ...given,
    after: await timedCursor(given.after, 'after', own),
    before: await timedCursor(given.before, 'before', own),
  }
  const keyset = keysetQuery(args, LAST_SEEN)
  const selection = queryFromInfo({ context, info, typeName: 'Space', paths: [['edges', 'node'], ['nodes']] })
  const rows = (await prisma.spaceMember.findMany({
    ...keyset,
    where: { AND: [own, keyset.where] },
    select: { lastSeenAt: true, spaceId: true, space: selection as never },
  })) as unknown as OwnSpace[]
  const page = keysetPage(rows, args, LAST_SEEN)
  const edges = page.edges.map(({ node }) => ({ cursor: encodeId('Space', node.spaceId), node: node.space }))
  const ends = { startCursor: edges[0]?.cursor ?? null, endCursor: edges.at(-1)?.cursor ?? null }
  return { edges, pageInfo: { ...page.pageInfo, ...ends }, total: () => prisma.spaceMember.count({ where: own }) }
}

async function timedCursor(cursor: string | null | undefined, path: string, own: object): Promise<string | null> {
  if (cursor == null) return null
  const spaceId = decodeId(cursor)
  const row =
    spaceId?.typename === 'Space'
      ? await prisma.spaceMember.findFirst({ where: { ...own, spaceId: spaceId.id }, select: { lastSeenAt: true } })
      : null
  if (!row || !spaceId) throw new InvalidInputError([{ path: [path], message: 'is no cursor of this list' }])
  return encodeCursor([instantText(row.lastSeenAt), spaceId.id])
}
