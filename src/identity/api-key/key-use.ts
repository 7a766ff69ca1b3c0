import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'

/** When keys were used last and the database does not know yet, by org and key. */
const uses = new Map<string, Map<string, Date>>()

/** Notes that a key was used; written once a minute for all of them, outside the request (ID-55). */
export function noteKeyUse(caller: Caller): void {
  if (caller.kind === 'session') return
  const ofOrg = uses.get(caller.orgId) ?? new Map<string, Date>()
  uses.set(caller.orgId, ofOrg)
  ofOrg.set(caller.keyId, new Date())
}

/** Writes what was noted, a statement an org. What cannot be written is noted again, unless a later use was. */
export async function flushKeyUse(): Promise<void> {
  const noted = [...uses]
  uses.clear()
  for (const [orgId, ofOrg] of noted) {
    const [keyIds, times] = [[...ofOrg.keys()], [...ofOrg.values()].map((time) => time.toISOString())]
    await operation(
      'write',
      { orgId },
      // Other processes write too: a time that is less than a minute later can wait for its next.
      () => sql`
        UPDATE identity.api_keys AS k SET last_used_at = used.at
        FROM unnest(${keyIds}::uuid[], ${times}::timestamptz[]) AS used (id, at)
        WHERE k.org_id = ${orgId} AND k.id = used.id
          AND (k.last_used_at IS NULL OR k.last_used_at <= used.at - interval '60 seconds')`,
    ).catch((error: unknown) => {
      const later = uses.get(orgId)
      uses.set(orgId, new Map([...ofOrg, ...(later ?? [])]))
      throw error
    })
  }
}
