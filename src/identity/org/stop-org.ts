import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { record } from '../../platform/index.ts'
import { orgResumed, orgStopped } from './events.ts'
import { lockLivingOrg } from './lock-org.ts'

type Reason = { reason?: string | undefined }

/** From the commit on no agent of the org acts, until somebody resumes it; people work on. Again, it does nothing (ID-58). */
export async function stopOrg(caller: Caller, { reason }: Reason): Promise<{ orgId: string }> {
  const { orgId, userId = null } = caller
  const { stopped } = await lockLivingOrg(caller)
  if (stopped) return { orgId }
  await sql`
    UPDATE identity.orgs SET stopped_at = now(), stopped_by = ${userId}, stop_reason = ${reason ?? null}
    WHERE id = ${orgId}`
  await record(caller, orgStopped, { target: { kind: 'Org', id: orgId }, reason, payload: {} })
  return { orgId }
}

/** Lets agents act again, at the hand of a person (ID-6). */
export async function resumeOrg(caller: Caller, { reason }: Reason): Promise<{ orgId: string }> {
  const { orgId } = caller
  const { stopped } = await lockLivingOrg(caller)
  if (!stopped) return { orgId }
  await sql`UPDATE identity.orgs SET stopped_at = NULL, stopped_by = NULL, stop_reason = NULL WHERE id = ${orgId}`
  await record(caller, orgResumed, { target: { kind: 'Org', id: orgId }, reason, payload: {} })
  return { orgId }
}
