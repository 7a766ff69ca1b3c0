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
    description: 'The space as it is now; null once it is no longer the caller’s.',
    resolve: (query, { spaceId }, _args, context) =>
      prisma.space.findUnique({
        ...query,
        where: { orgId_id: { orgId: callerOf(context).orgId, id: spaceId }, ...visibleSpaces(context) },
      }),
  })
}

/** The space as the directory shows it, to an admin who need not be in it: nothing of what is in it. */
export function listedSpaceField<Parent extends { spaceId: string }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Parent>,
) {
  return t.prismaField({
    type: 'Space',
    nullable: true,
    description: 'The space as it is now; to who is no member, what the directory shows.',
    resolve: (query, { spaceId }, _args, context) =>
      prisma.space.findUnique({ ...query, where: { orgId_id: { orgId: callerOf(context).orgId, id: spaceId } } }),
  })
}

/** The membership a mutation changed; null once there is none. */
export function memberField<Parent extends { spaceId: string; userId: string }>(
  t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, Parent>,
) {
  return t.prismaField({
    type: 'SpaceMember',
    nullable: true,
    description: 'The membership as it is now; null once there is none.',
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
