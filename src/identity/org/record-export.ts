import { operation } from '../../db/operation.ts'
import { record } from '../../platform/index.ts'
import { orgExported } from './events.ts'

/** Tells the org's admins that the operator has taken a copy of what it has. */
export function recordExport(orgId: string, what: 'org' | 'audit'): Promise<string> {
  return operation('write', { orgId }, () =>
    record({ kind: 'system', orgId }, orgExported, { target: { kind: 'Org', id: orgId }, payload: { what } }),
  )
}
