import { z } from 'zod'
import { Arg } from '../../graphql/arguments.ts'
import { by, likeText } from '../../graphql/columns.ts'
import { type Comparator, comparator, type Where } from '../../graphql/comparators.ts'
import { filterOf } from '../../graphql/filters.ts'
import { decodeId } from '../../graphql/ids.ts'
import { ActorKindEnum, AuditCategoryEnum } from './enums.ts'
import { eventTypes, eventTypesMatching } from './registry.ts'

/** A type by its name, types by a wildcard such as `room.*` or a beginning. What stands for no type is refused (PLAT-20). */
function byEventType(): Comparator {
  return comparator<string>({
    name: 'EventTypeFilter',
    description: 'By name, or by a wildcard such as `room.*`. Comparisons given together must all hold.',
    value: text((pattern) => eventTypesMatching(pattern).length > 0),
    prefix: text((beginning) => eventTypes().some(({ name }) => name.startsWith(beginning))),
    offers: ['eq', 'in', 'prefix'],
    ask: (question, operand) => {
      if (question === 'prefix') return beginningWith(operand as string)
      return { OR: [operand].flat().map((pattern) => named(pattern as string)) }
    },
  })
}

const text = (isKnown: (text: string) => boolean) => new Arg('String', z.string().refine(isKnown, 'is no event type'))
const beginningWith = (text: string): Where => ({ eventType: { startsWith: likeText(text) } })
const named = (pattern: string) =>
  pattern.endsWith('.*') ? beginningWith(pattern.slice(0, -1)) : { eventType: pattern }

/** What it was done to: any node's id, there or gone. */
function byTarget(): Comparator {
  const value = new Arg(
    'ID',
    z.string().transform((text, context) => {
      const decoded = decodeId(text)
      if (decoded) return decoded
      context.addIssue({ code: 'custom', message: 'expected the id of a node' })
      return z.NEVER
    }),
  )
  const withTarget = { targetId: { not: null } } // of a row without one the comparison would be unknown
  return comparator({
    name: 'IDFilter',
    value,
    offers: ['eq', 'neq', 'in', 'nin', 'isNull'],
    ask: (_question, operand) => {
      const targets = [operand].flat() as NonNullable<ReturnType<typeof decodeId>>[]
      return { AND: [withTarget, { OR: targets.map(({ typename, id }) => ({ targetKind: typename, targetId: id })) }] }
    },
    isNull: (yes) => (yes ? { targetId: null } : withTarget),
  })
}

export const auditFilter = filterOf('AuditFilter', {
  type: byEventType(),
  category: by.oneOf(AuditCategoryEnum, { column: 'category' }),
  actor: by.id('User', { column: 'actorUserId', nullable: true }),
  actorKind: by.oneOf(ActorKindEnum, { column: 'actorKind' }),
  targetId: byTarget(),
  spaceId: by.id('Space', { column: 'spaceId', nullable: true }),
  roomId: by.id('Room', { column: 'roomId', nullable: true }),
  projectId: by.id('Project', { column: 'projectId', nullable: true }),
  requestId: by.uuid({ column: 'requestId', nullable: true }),
  createdAt: by.instant({ column: 'createdAt' }),
})
