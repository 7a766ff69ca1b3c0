import { NIL } from 'uuid'
import { sql } from '../../db/sql.ts'
import { callerOf } from '../../graphql/builder.ts'
import { InvalidInputError } from '../../graphql/errors.ts'
import { batchLoad } from '../../graphql/loads.ts'
import { isUuid } from '../../lib/uuid.ts'

/** A place in the feed: after the row with this triple (PLAT-17). `xact` is a 64-bit transaction id. */
export type Position = { readonly era: number; readonly xact: string; readonly id: string }

/** Before every row of every org. */
export const BEGINNING: Position = { era: 0, xact: '0', id: NIL }

/** No leading zeros: the database would read those as octal. */
const FORM = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,18})\.([0-9a-f-]+)$/

export function encodePosition({ era, xact, id }: Position): string {
  return Buffer.from(`${era}.${xact}.${id}`).toString('base64url')
}

/** The position that a caller brings: one that was handed out in this org, or InvalidInputError. */
export async function positionOf(cursor: string, orgId: string): Promise<Position> {
  const position = decode(cursor)
  if (position && encodePosition(position) === cursor && (await isOfOrg(position, orgId))) return position
  throw new InvalidInputError([{ path: ['after'], message: 'is no cursor of this feed' }])
}

function decode(cursor: string): Position | null {
  const [, era, xact, id] = FORM.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  return era && xact && isUuid(id) ? { era: Number(era), xact, id } : null
}

/** Every position but the first is that of a row, and rows stay. */
async function isOfOrg(position: Position, orgId: string): Promise<boolean> {
  if (encodePosition(position) === encodePosition(BEGINNING)) return true
  const { era, xact, id } = position
  const rows = await sql`
    SELECT FROM platform.audit_events
    WHERE org_id = ${orgId} AND id = ${id} AND era = ${era} AND xact_id = ${xact}::xid8`
  return rows.length > 0
}

/** Where an event stands in the feed. */
export const cursorOf = batchLoad<string, string>(async (ids, context) => {
  const rows = await sql<Position>`
    SELECT id, era, xact_id::text AS xact FROM platform.audit_events
    WHERE org_id = ${callerOf(context).orgId} AND id = ANY (${ids}::uuid[])`
  return new Map(rows.map((row) => [row.id, encodePosition(row)]))
})
