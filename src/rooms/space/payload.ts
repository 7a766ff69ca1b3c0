import { prisma } from '../../db/prisma.ts'
import { callerOf, type SchemaTypes } from '../../graphql/builder.ts'
import { inVisibleSpace, visibleSpaces } from './access.ts'

/** The space a mutation changed, as its caller sees it after the commit; null once it is no longer theirs. */
export function spaceField<Parent extends { spaceId: string }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Parent>,
) {
  return t.prismaField({
    type: 'Space',
    nullable: true,
    resolve: (query, { spaceId }, _args, context) =>
      prisma.space.findUnique({
        ...query,
        where: { orgId_id: { orgId: callerOf(context).orgId, id: spaceId }, ...visibleSpaces(context) },
      }),
  })
}

/** The membership a mutation changed; null once there is none. */
export function memberField<Parent extends { spaceId: string; userId: string }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Parent>,
) {
  return t.prismaField({
    type: 'SpaceMember',
    nullable: true,
    resolve: (query, { spaceId, userId }, _args, context) =>
      prisma.spaceMember.findUnique({
        ...query,
        where: {
          orgId_spaceId_userId: { orgId: callerOf(context).orgId, spaceId, userId },
          ...inVisibleSpace(context),
        },
      }),
  })
}
