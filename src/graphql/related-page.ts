import DataLoader from 'dataloader'
import { type Connection, type Listing, pageQuery } from './connection.ts'
import { keysetPage } from './keyset.ts'
import { oncePerPlace } from './once-per-place.ts'

type Parent = { id: string; _count: Record<string, number> }
type Related = Listing & {
  /** Of the node that has the list. */
  id: string
  relation: string
  /** Reads nodes of that type; their visibility was settled where they were reached. */
  parents: (query: never) => PromiseLike<readonly object[]>
}
type Reader = { pages: DataLoader<string, object[]>; totals: DataLoader<string, number> }

/**
 * A list inside a node: one statement however many nodes there are, and one more for `totalCount`. Pothos' own nested
 * selection would read a second alias through the node's `findUnique`, which a directory's rows do not pass.
 */
export async function relatedPage<Row extends object>({ id, ...list }: Related): Promise<Connection<Row>> {
  // Of each parent, though the first one's is what is read: by it Pothos knows that the rows have what is selected of them.
  const query = pageQuery(list)
  const { pages, totals } = oncePerPlace(list.info, 'page', () => newReader(list, query))
  const rows = (await pages.load(id)) as Row[]
  return { ...keysetPage(rows, list.args, list.order), total: () => totals.load(id) }
}

function newReader({ relation, parents, where }: Omit<Related, 'id'>, query: object): Reader {
  const read = async (ids: readonly string[], select: object) => {
    const found = await parents({ where: { id: { in: [...ids] } }, select: { id: true, ...select } } as never)
    return new Map((found as readonly Parent[]).map((parent) => [parent.id, parent]))
  }
  return {
    pages: new DataLoader(async (ids: readonly string[]) => {
      const found = await read(ids, { [relation]: query })
      return ids.map((id) => (found.get(id) as Record<string, object[]> | undefined)?.[relation] ?? [])
    }),
    totals: new DataLoader(async (ids: readonly string[]) => {
      const found = await read(ids, { _count: { select: { [relation]: { where } } } })
      return ids.map((id) => found.get(id)?._count[relation] ?? 0)
    }),
  }
}
