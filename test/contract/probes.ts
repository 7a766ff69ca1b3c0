import { getNullableType, isEnumType, isInputObjectType, isListType } from 'graphql'
import { newId } from '../../src/lib/type-id.ts'
import { absentOf, type Item, type Planted } from './planted.ts'
import { NODE_TYPES, type Slot } from './schema-walk.ts'
import type { Sight } from './sight.ts'

/** Two values of which neither names anything of the caller's; `absent` names nothing at all. */
export type Probe = { readonly value: unknown; readonly absent?: unknown; readonly item?: Item }

/** Arguments that name rows, so that one which names a foreign row must find what one that names nothing does. */
const NAMES_ROWS = /(\.(eq|neq|in|nin|contains|prefix)(\[\])?|^Query\.space\.slug)$/
const NO_TEXT = 'zqnone'

/** What to put into a slot to reach for what is not the caller's. One that cannot be filled fails by its name. */
export function probesFor(name: string, slot: Slot, planted: Planted, sight: Sight): Probe[] {
  const type = getNullableType(slot.type)
  if (isInputObjectType(type) || isListType(type)) return [] // their parts are slots themselves
  if (isEnumType(type)) return [{ value: type.getValues()[0]!.name }]
  if (type.name === 'ID') return idsOfEachType(planted, sight)
  if (type.name === 'String') return textsFor(slot, planted, sight)
  const values = {
    Int: 2,
    Boolean: true,
    UUID: newId(),
    Date: '2026-01-01',
    DateTime: '2026-01-01T00:00:00Z',
    BigInt: '1',
  }
  const value = values[type.name as keyof typeof values]
  if (value === undefined) throw new Error(`no value for ${name}`)
  return [{ value }]
}

/** One foreign id of each type from the caller's own org, where there is one, and from another. */
function idsOfEachType(planted: Planted, sight: Sight): Probe[] {
  const ids = planted.ids((realm) => !sight.isTheirs(realm))
  return NODE_TYPES.flatMap((type) =>
    [true, false].flatMap((elsewhere) => {
      const found = ids.find((id) => id.type === type && sight.isElsewhere(id.realm) === elsewhere)
      if (!found) return []
      const item = { text: found.id, realm: found.realm, what: `${type}.id` }
      return [{ value: found.id, absent: absentOf(type), item }]
    }),
  )
}

function textsFor({ declared, path }: Slot, planted: Planted, sight: Sight): Probe[] {
  if (/\.(after|before)$/.test(declared)) return cursors(planted, sight)
  if (declared.startsWith('EventTypeFilter.')) return [{ value: 'room.ended' }]
  const texts = planted.texts((realm) => !sight.isTheirs(realm))
  // Texts of others that stand in a field of that name, or else any one of them.
  const named = texts.filter(({ what }) => path.includes(what.slice(what.indexOf('.') + 1)))
  const some = named.length > 0 ? named : texts.slice(0, 1)
  return some.map((item) => ({ item, value: item.text, ...(NAMES_ROWS.test(declared) && { absent: NO_TEXT }) }))
}

/** Places in lists that are not the caller's: right in form, made from rows that they may not see. */
function cursors(planted: Planted, sight: Sight): Probe[] {
  const hidden = (what: string) => planted.items.find((item) => item.what === what && !sight.isTheirs(item.realm))?.text
  const [uuid, text] = [hidden('Room.uuid') ?? newId(), hidden('Space.name') ?? NO_TEXT]
  const of = (values: unknown) => Buffer.from(JSON.stringify(values)).toString('base64url')
  return [['2026-01-01T00:00:00Z', uuid], [text, uuid], [uuid]].map((values) => ({ value: of(values) }))
}
