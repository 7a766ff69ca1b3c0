import { prisma } from '../../db/prisma.ts'
import { callerOf, type SchemaTypes } from '../../graphql/builder.ts'
import { inVisibleRoom } from '../room/access.ts'
import type { StoryChange } from './add-story.ts'

/** The story a mutation changed, as its caller sees it after the commit. */
export function storyField(t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, StoryChange>) {
  return t.prismaField({
    type: 'Story',
    nullable: true,
    description: 'The story as it is now.',
    resolve: (query, { storyId }, _args, context) =>
      prisma.story.findUnique({
        ...query,
        where: { orgId_id: { orgId: callerOf(context).orgId, id: storyId }, ...inVisibleRoom(context) },
      }),
  })
}
