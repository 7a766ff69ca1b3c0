import { prisma } from '../../db/prisma.ts'
import { sqlOne } from '../../db/sql.ts'
import type { AuditEvent } from '../../generated/prisma/client.ts'
import { encodeId } from '../../graphql/ids.ts'
import { instantText } from '../../graphql/scalars.ts'
import { encodePosition, type Position } from '../audit/cursor.ts'
import { shapeOfPayload, withGlobalIds } from '../audit/node-ids.ts'
import { type ProjectionForm, rowsReader } from '../audit/projection.ts'
import { eventType } from '../audit/registry.ts'

/**
 * What an endpoint is sent of an event, read in an operation of the org without a person (PLAT-39). A space's own endpoint
 * gets what people wrote there, all others ids and figures. Ids are those that the API takes.
 */
export async function renderBody(
  { orgId, eventId }: { orgId: string; eventId: string },
  endpoint: { spaceId: string | null; apiVersion: string },
): Promise<Buffer> {
  const event = await prisma.auditEvent.findUniqueOrThrow({ where: { orgId_id: { orgId, id: eventId } } })
  const position = await sqlOne<Position>`
    SELECT id, era, xact_id::text AS xact FROM platform.audit_events WHERE org_id = ${orgId} AND id = ${eventId}`
  const body = {
    id: encodeId('AuditEvent', eventId),
    type: event.eventType,
    timestamp: instantText(event.createdAt),
    api_version: endpoint.apiVersion,
    org_id: encodeId('Org', orgId),
    actor: actorOf(event),
    cursor: encodePosition(position),
    data: await dataOf(event, endpoint.spaceId === null ? 'org' : 'space'),
  }
  return Buffer.from(JSON.stringify(body))
}

function actorOf({ actorKind, actorUserId, actorKeyId }: AuditEvent) {
  if (actorUserId !== null) return { kind: actorKind, id: encodeId('User', actorUserId) }
  return { kind: actorKind, id: actorKeyId && encodeId('ApiKey', actorKeyId) }
}

/** Of a type that this release does not know nobody can say what may be shown, and a private thing is nobody else's. */
async function dataOf(event: AuditEvent, form: ProjectionForm): Promise<unknown> {
  const type = eventType(event.eventType)
  if (!type || event.privateUserId !== null) return null
  const shown = await type.projection(event as never, form, rowsReader(event.orgId))
  return withGlobalIds(shapeOfPayload(type.payload), shown)
}
