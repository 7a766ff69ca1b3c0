import { type Caller, meets } from '../../graphql/caller.ts'
import { ForbiddenError } from '../../graphql/errors.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'
import type { Actor } from '../../platform/index.ts'

/** Admins see the keys of their org, an agent the one it calls with. */
export function visibleKeys(caller: Caller | null): object {
  if (meets('admin', caller)) return { orgId: caller.orgId }
  return caller?.kind === 'agent' ? { orgId: caller.orgId, id: caller.keyId } : NO_ROWS
}

/** Admin keys are made, rotated and revoked by owners and admins in person, or by the operator (ID-6, 7). */
export function requireMayChange(actor: Actor, { agentId }: { agentId: string | null }): void {
  if (agentId !== null || actor.kind === 'system' || meets('adminPerson', actor)) return
  throw new ForbiddenError('Admin keys are for owners and admins in person.')
}
