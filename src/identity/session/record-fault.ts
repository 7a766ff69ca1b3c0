import { operation } from '../../db/operation.ts'
import { record } from '../../platform/index.ts'
import { type SessionMethod, type SignInFault, signInFailed } from './events.ts'

type Fault = { orgId: string; userId: string; method: SessionMethod; reason: SignInFault }

/** Somebody tried to sign in as a known person and did not get in; nobody has proven to be them, so the server says it. */
export async function recordFault({ orgId, userId, method, reason }: Fault): Promise<void> {
  await record({ kind: 'system', orgId }, signInFailed, {
    target: { kind: 'User', id: userId },
    payload: { method, reason },
  })
}

/** The same in an operation of its own. */
export const recordFaultApart = (fault: Fault): Promise<void> =>
  operation('write', { orgId: fault.orgId }, () => recordFault(fault))
