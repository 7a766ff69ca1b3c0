import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import { ConflictError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { orgArchived, orgUnarchived } from './events.ts'
import { lockOrg } from './lock-org.ts'

type Reason = { reason?: string | undefined }

/** The org is read and no longer written to; what holds that is the database (ID-59). Again, it does nothing. */
export async function archiveOrg(caller: Caller, { reason }: Reason): Promise<{ orgId: string }> {
  const { orgId } = caller
  const { status } = await lockOrg(caller)
  if (status === 'archived') return { orgId }
  if (status !== 'active') throw new ConflictError('The org is being purged.')
  await sql`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = ${orgId}`
  await record(caller, orgArchived, { target: { kind: 'Org', id: orgId }, reason, payload: {} })
  return { orgId }
}

export async function unarchiveOrg(caller: Caller, { reason }: Reason): Promise<{ orgId: string }> {
  const { orgId } = caller
  const { status } = await lockOrg(caller)
  if (status === 'active') return { orgId }
  if (status !== 'archived') throw new ConflictError('The org is being purged.')
  await sql`UPDATE identity.orgs SET status = 'active', archived_at = NULL WHERE id = ${orgId}`
  await record(caller, orgUnarchived, { target: { kind: 'Org', id: orgId }, reason, payload: {} })
  return { orgId }
}
