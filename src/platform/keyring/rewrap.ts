import type pg from 'pg'
import { EnvelopeError, type EnvelopeFault, type Keyring, type Place, seal, unseal } from '../../lib/envelope.ts'
import { type SealedColumn, sealedColumns } from './sealed-columns.ts'

const ROWS_AT_ONCE = 100
const FIRST = '00000000-0000-0000-0000-000000000000'

/** A value that stays under the key it has, for it does not open. */
export type Shut = Place & { fault: EnvelopeFault }
export type Rewrapped = { rewrapped: number; shut: Shut[] }

type Row = { orgId: string; id: string; envelope: Buffer }

/**
 * Seals what stands in registered columns anew under the current key (PLAT-72), a row at a time, as the owner, who sees all
 * orgs. Interrupted, it goes on with what is left when it runs again; beside a server, or another of its kind, each row is
 * changed only from what it was read as.
 */
export async function rewrapSealedColumns(client: pg.ClientBase, keyring: Keyring): Promise<Rewrapped> {
  const whole: Rewrapped = { rewrapped: 0, shut: [] }
  for (const column of sealedColumns()) {
    for (let overtaken = 1; overtaken > 0; ) {
      const pass = await passOver(client, keyring, column)
      overtaken = pass.overtaken
      whole.rewrapped += pass.rewrapped
      if (overtaken === 0) whole.shut.push(...pass.shut) // a later pass meets those of this one again
    }
  }
  return whole
}

type Pass = Rewrapped & { overtaken: number }

async function passOver(client: pg.ClientBase, keyring: Keyring, column: SealedColumn): Promise<Pass> {
  const pass: Pass = { rewrapped: 0, shut: [], overtaken: 0 }
  let after = { orgId: FIRST, id: FIRST }
  for (;;) {
    const rows = await rowsBehind(client, keyring, column, after)
    for (const row of rows) {
      after = row
      const place = { orgId: row.orgId, table: column.table, rowId: row.id, column: column.column }
      try {
        const envelope = await seal(keyring, await unseal(keyring, row.envelope, place), place)
        if (await replace(client, keyring, column, row, envelope)) pass.rewrapped++
        else pass.overtaken++
      } catch (error) {
        if (!(error instanceof EnvelopeError)) throw error
        pass.shut.push({ ...place, fault: error.fault })
      }
    }
    if (rows.length < ROWS_AT_ONCE) return pass
  }
}

/** The next rows that another key wrapped, told by the bytes themselves. Names come from the registry alone. */
async function rowsBehind(
  client: pg.ClientBase,
  { current }: Keyring,
  { table, column }: SealedColumn,
  { orgId, id }: { orgId: string; id: string },
): Promise<Row[]> {
  const { rows } = await client.query<Row>(
    `SELECT org_id AS "orgId", id, ${column} AS envelope FROM ${table}
     WHERE (org_id, id) > ($1, $2) AND octet_length(${column}) > 2
       AND substring(${column} FROM 3 FOR get_byte(${column}, 1)) <> $3
     ORDER BY org_id, id LIMIT ${ROWS_AT_ONCE}`,
    [orgId, id, Buffer.from(current.id)],
  )
  return rows
}

async function replace(
  client: pg.ClientBase,
  { current }: Keyring,
  { table, column, keyColumn }: SealedColumn,
  { orgId, id, envelope: old }: Row,
  envelope: Buffer,
): Promise<boolean> {
  const telling = keyColumn === undefined ? '' : `, ${keyColumn} = $5`
  const values = [orgId, id, old, envelope, ...(keyColumn === undefined ? [] : [current.id])]
  const { rowCount } = await client.query(
    `UPDATE ${table} SET ${column} = $4${telling} WHERE org_id = $1 AND id = $2 AND ${column} = $3`,
    values,
  )
  return rowCount === 1
}
