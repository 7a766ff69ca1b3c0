import { sql } from '../../db/sql.ts'
import { type Caller, meets } from '../../graphql/caller.ts'
import { ConflictError, ForbiddenError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { type AgentStatus, lockAgent } from './agent.ts'
import { agentResumed, agentStopped, agentSuspended } from './events.ts'

type StatusChange = { id: string; reason?: string | undefined }
type Changed = Promise<{ agentId: string }>

const EVENTS = { suspended: agentSuspended, stopped: agentStopped, active: agentResumed }

/** Refuses an agent's calls until it is resumed (ID-43). Its keys stay as they are. */
export const suspendAgent = (caller: Caller, change: StatusChange): Changed => setStatus(caller, change, 'suspended')

/** The same, but only a person takes it back. */
export const stopAgent = (caller: Caller, change: StatusChange): Changed => setStatus(caller, change, 'stopped')

/** Lets an agent act again; one that was stopped, only at the hand of an owner or admin in person (ID-6, 43). */
export const resumeAgent = (caller: Caller, change: StatusChange): Changed => setStatus(caller, change, 'active')

async function setStatus(caller: Caller, { id, reason }: StatusChange, to: AgentStatus): Changed {
  const { status: from } = await lockAgent(caller, id)
  if (from === 'stopped' && to === 'suspended') throw new ConflictError('The agent is stopped already.')
  if (from === 'stopped' && to === 'active' && !meets('adminPerson', caller)) {
    throw new ForbiddenError('Only an owner or admin in person resumes what was stopped.')
  }
  if (from === to) return { agentId: id }

  await sql`
    UPDATE identity.agents SET status = ${to}, status_reason = ${reason ?? null}, status_changed_at = now()
    WHERE org_id = ${caller.orgId} AND id = ${id}`
  await record(caller, EVENTS[to], { target: { kind: 'Agent', id }, reason, payload: { from } })
  return { agentId: id }
}
