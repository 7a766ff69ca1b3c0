import type { AuditEvent } from '../../generated/prisma/client.ts'
import type { Context } from '../../graphql/context.ts'
import { shapeOfPayload, withGlobalIds } from './node-ids.ts'
import { type RowsReader, rowsReader } from './projection.ts'
import { eventType } from './registry.ts'

/** Rows read through `auditEvents`, the one place that shows payloads in full (PLAT-15). */
const inFull = new WeakSet<object>()

export function showInFull<Row extends object>(row: Row): Row {
  inFull.add(row)
  return row
}

/**
 * What the caller gets of an event's payload: all of it in the audit log, its projection everywhere else, and nothing of
 * what is another's private thing (PLAT-15). Of a type that is no longer known nobody can say what may be shown, nor
 * which of its UUIDs are ids of what.
 */
export async function payloadFor(row: AuditEvent, context: Context): Promise<unknown> {
  if (row.privateUserId !== null && (inFull.has(row) || row.privateUserId !== context.caller?.userId)) return null
  const type = eventType(row.eventType)
  if (!type) return inFull.has(row) ? row.payload : null
  const shown = inFull.has(row) ? row.payload : await type.projection(row as never, 'org', readerOf(context, row.orgId))
  return withGlobalIds(shapeOfPayload(type.payload), shown)
}

const READER = {}

/** One a context, so that the events of one page read their rows together. */
function readerOf({ loads }: Context, orgId: string): RowsReader {
  const reader = (loads.get(READER) as RowsReader | undefined) ?? rowsReader(orgId)
  loads.set(READER, reader)
  return reader
}
