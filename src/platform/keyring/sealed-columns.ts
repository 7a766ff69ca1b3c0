/** A column of envelopes that stay: `moothall keys rewrap` seals them anew under the current key. */
export type SealedColumn = {
  /** With its schema. Its key is (org_id, id), and `id` is the row id of its envelopes. */
  readonly table: string
  /** Named `…_envelope`, by which the start finds the keys that rows still need. */
  readonly column: string
  /** A column that tells the key of the row's envelopes, where the table has one. */
  readonly keyColumn?: string
}

const NAME = /^[a-z_]+$/
const columns: SealedColumn[] = []

/** Called by the body that owns the table, as it is loaded. */
export function registerSealedColumn(column: SealedColumn): void {
  const names = [...column.table.split('.'), column.column, column.keyColumn ?? column.column]
  // They are put into statements as they are.
  if (names.length !== 4 || !names.every((name) => NAME.test(name)) || !column.column.endsWith('_envelope')) {
    throw new TypeError(`no sealed column: ${names.join(' ')}`)
  }
  columns.push(column)
}

export const sealedColumns = (): readonly SealedColumn[] => columns
