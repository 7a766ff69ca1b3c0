import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { KeyScope } from '../../graphql/caller.ts'
import { NotFoundError } from '../../graphql/errors.ts'
import { findOrg } from '../session/preauth.ts'
import { createKey } from './create-key.ts'
import type { MadeKey } from './make-key.ts'
import { revokeKey } from './revoke-key.ts'

type OperatorKey = {
  orgSlug: string
  /** By name; null: an admin key. */
  agent: string | null
  name: string
  scopes: readonly KeyScope[]
  expiresAt?: string | undefined
}

/** The operator makes a key of an agent, or an admin key. */
export function createKeyAsOperator({ orgSlug, agent, ...key }: OperatorKey): Promise<MadeKey> {
  return inOrg(orgSlug, async (orgId) => {
    const [row] =
      agent === null
        ? []
        : await sql<{ id: string }>`SELECT id FROM identity.agents WHERE org_id = ${orgId} AND name = ${agent}`
    if (agent !== null && !row) throw new NotFoundError('agent')
    return createKey({ kind: 'system', orgId }, { agentId: row?.id, admin: agent === null, ...key })
  })
}

/** The operator ends a key by its prefix. */
export function revokeKeyAsOperator({
  orgSlug,
  prefix,
}: {
  orgSlug: string
  prefix: string
}): Promise<{ keyId: string }> {
  return inOrg(orgSlug, async (orgId) => {
    const [row] = await sql<{ id: string }>`
      SELECT id FROM identity.api_keys WHERE org_id = ${orgId} AND prefix = ${prefix}`
    if (!row) throw new NotFoundError('prefix')
    return revokeKey({ kind: 'system', orgId }, row)
  })
}

async function inOrg<T>(slug: string, body: (orgId: string) => Promise<T>): Promise<T> {
  const org = await findOrg(slug)
  if (!org) throw new NotFoundError('org')
  return operation('write', { orgId: org.org_id }, () => body(org.org_id))
}
