import { prisma } from '../../db/prisma.ts'
import { sqlOne } from '../../db/sql.ts'
import type { Prisma, Session } from '../../generated/prisma/client.ts'
import { arg, argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import { pageOf } from '../../graphql/connection.ts'
import { NEWEST_FIRST } from '../../graphql/keyset.ts'
import { identitySettings } from '../settings.ts'
import { userById } from '../user/loads.ts'
import { SessionConnection, SessionEdge } from './graphql.ts'

const read = argumentsOf({ userId: arg.id('User').optional().describe('Only this person’s.') })

/** Sessions that hold, by the database's clock (ID-15): `identity.session_end` as a condition. */
async function holding(): Promise<Prisma.SessionWhereInput> {
  const { idle, max } = identitySettings().sessionLife
  const { now, created, seen } = await sqlOne<{ now: string; created: string; seen: string }>`
    SELECT now::text AS now, (now - ${max}::float8 * interval '1 ms')::text AS created,
      (now - ${idle}::float8 * interval '1 ms')::text AS seen
    FROM clock_timestamp() AS now`
  return {
    revokedAt: null,
    createdAt: { gt: created },
    lastSeenAt: { gt: seen },
    OR: [{ expiresAt: null }, { expiresAt: { gt: now } }],
    user: { status: 'active' },
  }
}

const page = pageOf<Session>({
  type: 'Session',
  order: NEWEST_FIRST,
  model: prisma.session,
  where: async (context, args) => {
    const { userId } = read.values(args)
    return { AND: [{ orgId: callerOf(context).orgId, ...(userId !== undefined && { userId }) }, await holding()] }
  },
})

builder.queryField('orgSessions', (t) =>
  t.connection(
    {
      type: 'Session',
      nullable: true,
      description:
        'Who is signed in: sessions that hold and are active in the org, the newest first, for owners and admins. ' +
        '`sessionRevoke` ends one.',
      args: read.args,
      authScopes: { needs: 'admin' },
      resolve: async (parent, args, context, info) => {
        const { userId } = read.values(args)
        if (userId !== undefined && !(await userById(context, userId))) return null // ID-8
        return page(parent, args, context, info) as never
      },
    },
    SessionConnection,
    SessionEdge,
  ),
)
