import { encodeId, type NodeName } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'

/** An id of that type that names nothing. */
export const absentOf = (type: string): string => encodeId(type as NodeName, newId())

/** Something that must not come to the wrong eyes: an id, or a text that stands nowhere else. */
export type Item = {
  readonly text: string
  /** Whose it is: a space, one of its rooms, a person, an org. Who sees a realm sees all of it. */
  readonly realm: string
  /** Such as `Story.title`. */
  readonly what: string
}

/** Everything planted in a world, and marks to plant. */
export class Planted {
  readonly items: Item[] = []

  /** A text that nothing else contains. */
  mark(realm: string, what: string, spell = (mark: string) => mark): string {
    const text = spell(`zq${String(this.items.length).padStart(4, '0')}`)
    this.items.push({ text, realm, what })
    return text
  }

  /** A node's id, in the spelling of the API and in that of the database. */
  id(realm: string, type: NodeName, uuid: string): void {
    this.items.push({ text: encodeId(type, uuid), realm, what: `${type}.id` })
    this.items.push({ text: uuid, realm, what: `${type}.uuid` })
  }

  ids(realms: (realm: string) => boolean): { type: string; id: string; realm: string }[] {
    return this.items
      .filter(({ realm, what }) => what.endsWith('.id') && realms(realm))
      .map(({ text, realm, what }) => ({ type: what.slice(0, -3), id: text, realm }))
  }

  /** One text of each kind from each realm. */
  texts(realms: (realm: string) => boolean): Item[] {
    const ofKind = new Map<string, Item>()
    for (const item of this.items) {
      if (!/\.(id|uuid)$/.test(item.what) && realms(item.realm)) ofKind.set(`${item.realm} ${item.what}`, item)
    }
    return [...ofKind.values()]
  }
}

export type Sighting = Item & { readonly at: string; readonly path: string }

/** Every item that an answer holds, with the field it stands in: `Space.name`. Cursors are looked into. */
export function sightings(data: unknown, items: readonly Item[]): Sighting[] {
  const found: Sighting[] = []
  const look = (text: string, at: string, path: string) => {
    for (const item of items) if (text.includes(item.text)) found.push({ ...item, at, path })
  }
  const walk = (value: unknown, at: string, path: string) => {
    if (typeof value === 'string') {
      look(value, at, path)
      if (/cursor/i.test(path)) look(Buffer.from(value, 'base64url').toString(), at, path)
    } else if (Array.isArray(value)) {
      value.forEach((each, index) => {
        walk(each, at, `${path}.${index}`)
      })
    } else if (typeof value === 'object' && value !== null) {
      const { __typename: type } = value as { __typename?: string }
      // What stands inside a JSON value stands in its field.
      for (const [key, each] of Object.entries(value)) {
        const field = key.slice(key.indexOf('_', 1) + 1) // behind the type's name, where two types have such a field
        walk(each, type ? `${type}.${field}` : at, `${path}.${key}`)
      }
    }
  }
  walk(data, 'Query', 'data')
  return found
}
