import { prisma } from '../../db/prisma.ts'
import { callerOf, type SchemaTypes } from '../../graphql/builder.ts'
import { inVisibleRoom } from '../room/access.ts'
import type { EntryChange } from './save-entry.ts'
import { StandupEntryType } from './types.ts'

/** The entry that a mutation was about, as its caller sees it after the commit; null where there is none. */
export function entryField<Change extends EntryChange>(t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Change>) {
  return t.field({
    type: StandupEntryType,
    nullable: true,
    description: 'The entry as it is now; null while there is none.',
    resolve: ({ roomId, userId }, _args, context) =>
      prisma.standupEntry.findUnique({
        where: {
          orgId_roomId_userId: { orgId: callerOf(context).orgId, roomId, userId },
          ...inVisibleRoom(context),
        },
      }),
  })
}
