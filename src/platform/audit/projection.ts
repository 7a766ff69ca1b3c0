import DataLoader from 'dataloader'

/**
 * `space`: for a space's own endpoint, which may hold what people wrote there. `org`: for everybody else; ids and figures
 * only (PLAT-39, ROOM-183).
 */
export type ProjectionForm = 'space' | 'org'

/** A recorded event as its projection sees it. */
export type RecordedEvent<P = unknown> = {
  readonly id: string
  readonly orgId: string
  readonly eventType: string
  readonly createdAt: string
  readonly actorKind: string
  readonly actorUserId: string | null
  readonly targetKind: string | null
  readonly targetId: string | null
  readonly spaceId: string | null
  readonly roomId: string | null
  readonly projectId: string | null
  readonly ticketId: string | null
  readonly privateUserId: string | null
  readonly payload: P
}

/** Reads rows by id, as they are now; the map lacks those that are gone. */
export type RowsById<V> = (orgId: string, ids: readonly string[]) => Promise<ReadonlyMap<string, V>>

/** What a projection reads with: rows that several events ask for are read together and once. */
export type RowsReader = {
  /** The row of that id, null when it is gone or there is no id. */
  row<V>(read: RowsById<V>, id: string | null): Promise<V | null>
}

/**
 * What anybody but a reader of the admins' `auditEvents` gets of an event's payload. Fields that it passes on keep their
 * names: those with ids of nodes are shown as global ids (PLAT-58).
 */
export type Projection<P> = (
  event: RecordedEvent<P>,
  form: ProjectionForm,
  rows: RowsReader,
) => object | Promise<object>

export const payloadAsRecorded: Projection<object> = ({ payload }) => payload

/** One reader serves one operation: what it has read once it does not read again. */
export function rowsReader(orgId: string): RowsReader {
  const loaders = new Map<unknown, DataLoader<string, unknown>>()
  const loaderOf = (read: RowsById<unknown>) => {
    const known = loaders.get(read)
    if (known) return known
    const loader = new DataLoader<string, unknown>(async (ids) => {
      const found = await read(orgId, ids)
      return ids.map((id) => found.get(id) ?? null)
    })
    loaders.set(read, loader)
    return loader
  }
  return { row: async (read, id) => (id === null ? null : ((await loaderOf(read).load(id)) as never)) }
}
