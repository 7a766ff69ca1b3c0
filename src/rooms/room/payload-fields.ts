import { prisma } from '../../db/prisma.ts'
import { callerOf, type SchemaTypes } from '../../graphql/builder.ts'
import { visibleRooms } from './access.ts'

/** The room a mutation changed, as its caller sees it after the commit; null once it is gone or no longer theirs. */
export function roomField<Parent extends { roomId: string }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Parent>,
) {
  return t.prismaField({
    type: 'Room',
    nullable: true,
    description: 'The room as it is now; null once it is gone or no longer the caller’s to see.',
    resolve: (query, { roomId }, _args, context) =>
      prisma.room.findUnique({
        ...query,
        where: { orgId_id: { orgId: callerOf(context).orgId, id: roomId }, ...visibleRooms(context) },
      }),
  })
}
