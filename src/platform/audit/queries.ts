import type { GraphQLResolveInfo } from 'graphql'
import { prisma } from '../../db/prisma.ts'
import type { AuditEvent, Prisma } from '../../generated/prisma/client.ts'
import { argumentsOf } from '../../graphql/arguments.ts'
import { builder, callerOf } from '../../graphql/builder.ts'
import type { Caller } from '../../graphql/caller.ts'
import { pageOf } from '../../graphql/connection.ts'
import type { Context } from '../../graphql/context.ts'
import { NEWEST_FIRST, type PageArgs } from '../../graphql/keyset.ts'
import { readableActivity } from './access.ts'
import { auditFilter } from './filter.ts'
import { AuditEventConnection, AuditEventEdge } from './graphql.ts'
import { knowsIdsOf } from './named-ids.ts'
import { showInFull } from './payload.ts'

const read = argumentsOf({ filter: auditFilter.nullable() })

/** A list of the log: what of it the caller may read, and whether payloads show in full. */
function eventsPage(readable: (caller: Caller) => Prisma.AuditEventWhereInput, each?: (row: AuditEvent) => AuditEvent) {
  const page = pageOf<AuditEvent>({
    type: 'AuditEvent',
    order: NEWEST_FIRST,
    model: prisma.auditEvent,
    where: (context, args) => {
      const caller = callerOf(context)
      return { AND: [{ orgId: caller.orgId }, readable(caller), read.values(args).filter ?? {}] }
    },
    ...(each && { each }),
  })
  const resolve = async (parent: unknown, args: PageArgs, context: Context, info: GraphQLResolveInfo) => {
    const known = await knowsIdsOf(read.values(args).filter, readable(callerOf(context)), context)
    return known ? page(parent, args, context, info) : null
  }
  return resolve as never
}

builder.queryField('auditEvents', (t) =>
  t.connection(
    {
      type: 'AuditEvent',
      nullable: true,
      description: 'The audit log, newest first, for owners and admins: every event, payloads in full.',
      args: read.args,
      authScopes: { needs: 'admin' },
      resolve: eventsPage(() => ({}), showInFull),
    },
    AuditEventConnection,
    AuditEventEdge,
  ),
)

builder.queryField('activity', (t) =>
  t.connection(
    {
      type: 'AuditEvent',
      nullable: true,
      description:
        'What happened where the caller may read, newest first: in the org, in their spaces and rooms, also in rooms ' +
        'that are gone, and what is theirs alone. Payloads are without what only `auditEvents` shows.',
      args: read.args,
      authScopes: { needs: 'viewer' },
      resolve: eventsPage(readableActivity),
    },
    AuditEventConnection,
    AuditEventEdge,
  ),
)
