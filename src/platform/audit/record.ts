import pg from 'pg'
import { currentLane } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import type { NodeName } from '../../graphql/ids.ts'
import { redact } from '../../lib/redact.ts'
import { newId } from '../../lib/type-id.ts'
import { type EventType, eventType } from './registry.ts'
import { spaceSlugOf } from './space-slug.ts'

export const ACTOR_KINDS = ['human', 'agent', 'api_key', 'system'] as const
export type ActorKind = (typeof ACTOR_KINDS)[number]

/** The server itself, working for an org. */
export type SystemActor = { readonly kind: 'system'; readonly orgId: string }

/** Who did it. */
export type Actor = Caller | SystemActor

export type Facts<P> = {
  /** What it was done to. */
  target?: { kind: NodeName; id: string }
  spaceId?: string | null | undefined
  roomId?: string | null | undefined
  projectId?: string | null | undefined
  ticketId?: string | null | undefined
  /** Whose private thing it is about; nobody else's activity shows it. */
  privateUserId?: string | null | undefined
  /** Spares a look-up where the space's row is at hand. */
  spaceSlug?: string | undefined
  reason?: string | null | undefined
  /** The call it tells of; of agent.tool_invoked alone. */
  toolInvocationId?: string
  payload: P
}

/** An event that must not be: its type is unknown, or its payload off the schema. A bug of ours, so the change fails. */
export class EventFaultError extends Error {
  override name = 'EventFaultError'
}

/**
 * Records a fact in the write operation that makes it: no commit without its event, no event without its commit (PLAT-11).
 * Returns the event's id. A call that changes nothing records nothing; a bulk call records one a changed row (PLAT-13).
 */
export async function record<P extends object>(
  actor: Actor,
  event: EventType<P>,
  facts: Facts<NoInfer<P>>,
): Promise<string> {
  const { operation, scope } = currentLane()
  if (operation.kind !== 'write') throw new EventFaultError(`${event.name} is recorded outside a write operation`)

  const payload = payloadOf(event, facts.payload)
  const { actorKind, actorUserId, actorKeyId, guestRoomId } = actorColumns(actor)
  const spaceSlug = facts.spaceSlug ?? (await spaceSlugOf(actor.orgId, facts.spaceId))
  const id = newId()
  // No RETURNING: not every row one may add is one's to read.
  await sql`
    INSERT INTO platform.audit_events (org_id, id, category, event_type, actor_kind, actor_user_id, actor_key_id,
      target_kind, target_id, space_id, room_id, project_id, ticket_id, private_user_id, org_slug, space_slug, reason,
      payload, request_id, tool_invocation_id, durable, deliverable)
    VALUES (${actor.orgId}, ${id}, ${event.category}, ${event.name}, ${actorKind}, ${actorUserId}, ${actorKeyId},
      ${facts.target?.kind}, ${facts.target?.id}, ${facts.spaceId}, ${facts.roomId ?? guestRoomId}, ${facts.projectId},
      ${facts.ticketId}, ${facts.privateUserId},
      coalesce((SELECT slug FROM identity.orgs WHERE id = ${actor.orgId}), ''), ${spaceSlug}, ${facts.reason},
      ${payload}::jsonb, ${scope.requestId}, ${facts.toolInvocationId}, ${event.durable}, ${event.deliverable})`.catch(
    (error: unknown) => {
      throw isTooLarge(error) ? new EventFaultError(`the payload of ${event.name} is too large`) : error
    },
  )
  return id
}

/** Checked against the type's schema, then cleared of secrets all the same (PLAT-14). */
function payloadOf<P extends object>(event: EventType<P>, payload: P): string {
  if (eventType(event.name) !== event) throw new EventFaultError(`${event.name} is not registered`)
  const read = event.payload.safeParse(payload)
  if (read.success) return JSON.stringify(redact(read.data))
  const faults = read.error.issues.map(({ path, code }) => `${path.join('.') || 'payload'} (${code})`)
  throw new EventFaultError(`the payload of ${event.name} is off its schema: ${faults.join(', ')}`)
}

type ActorColumns = {
  actorKind: ActorKind
  actorUserId: string | null
  actorKeyId: string | null
  guestRoomId: string | null
}

function actorColumns(actor: Actor): ActorColumns {
  if (actor.kind === 'system') return { actorKind: 'system', actorUserId: null, actorKeyId: null, guestRoomId: null }
  if (actor.kind === 'admin_key') {
    return { actorKind: 'api_key', actorUserId: null, actorKeyId: actor.keyId, guestRoomId: null }
  }
  if (actor.kind === 'agent') {
    return { actorKind: 'agent', actorUserId: actor.userId, actorKeyId: actor.keyId, guestRoomId: null }
  }
  // Row security asks the room of a guest's event.
  return { actorKind: 'human', actorUserId: actor.userId, actorKeyId: null, guestRoomId: actor.roomId ?? null }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.constraint === 'audit_events_payload_size_check'
}
