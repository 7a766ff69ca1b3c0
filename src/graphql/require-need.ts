import { type Caller, meets, type Need } from './caller.ts'
import type { Context } from './context.ts'
import { requestError } from './request-errors.ts'

/** The caller, if they reach that far: the check that opens a subscription; each event is checked again by its field. */
export function requireNeed(need: Need, { caller }: Pick<Context, 'caller'>): Caller {
  if (!caller) throw requestError('UNAUTHENTICATED')
  if (!meets(need, caller)) throw requestError('FORBIDDEN')
  return caller
}
