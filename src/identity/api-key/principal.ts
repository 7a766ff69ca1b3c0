import type { Halt, KeyCaller, KeyScope } from '../../graphql/caller.ts'

/** What decides how far a key reaches: its own row, its agent's and its org's. */
export type KeyStandingRow = {
  key_id: string
  org_id: string
  /** Null: an admin key. */
  agent_id: string | null
  scopes: KeyScope[]
  agent_name: string | null
  agent_status: 'active' | 'suspended' | 'stopped' | null
  agent_mode: 'read' | 'write' | null
  project_scope: 'all' | 'listed' | null
  can_edit_global_wiki: boolean | null
  rate_limit_per_minute: number | null
  org_status: string
  stopped_at: Date | null
}

export function callerOfKey(row: KeyStandingRow): KeyCaller {
  const { org_id: orgId, key_id: keyId, scopes, agent_id: agentId } = row
  if (agentId === null) return { kind: 'admin_key', orgId, keyId, standing: 'ADMIN_KEY', embedded: false, scopes }
  const halt = haltOf(row)
  return {
    kind: 'agent',
    orgId,
    userId: agentId,
    keyId,
    account: 'agent',
    standing: halt === null ? 'AGENT' : null,
    halt,
    embedded: false,
    name: row.agent_name as string,
    scopes,
    mode: row.agent_mode ?? 'read',
    projectScope: row.project_scope ?? 'listed',
    canEditGlobalWiki: row.can_edit_global_wiki ?? false,
    rateLimit: row.rate_limit_per_minute,
  }
}

/** An archived or stopped org halts its agents, not its admin keys; their own state halts each. */
function haltOf({ agent_status, org_status, stopped_at }: KeyStandingRow): Halt | null {
  if (org_status === 'archived') return 'ORG_ARCHIVED'
  if (stopped_at !== null) return 'ORG_STOPPED'
  if (agent_status === 'stopped') return 'AGENT_STOPPED'
  return agent_status === 'suspended' ? 'AGENT_SUSPENDED' : null
}
