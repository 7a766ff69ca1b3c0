import { type Caller, meets } from '../../graphql/caller.ts'
import { NO_ROWS } from '../../graphql/no-rows.ts'

/** The org's agents are known to whoever reads its shared things. */
export const seesAgents = (caller: Caller | null): boolean => meets('viewer', caller)

export const visibleAgents = (caller: Caller | null): { AND: (typeof NO_ROWS)[] } => ({
  AND: seesAgents(caller) ? [] : [NO_ROWS],
})

/** How an agent is kept in bounds is for admins, and for the agent itself. */
export function seesBounds(caller: Caller | null, agentId: string): boolean {
  return meets('admin', caller) || (caller?.kind === 'agent' && caller.userId === agentId)
}
