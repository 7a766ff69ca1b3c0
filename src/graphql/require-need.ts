import { type Caller, type CallerWith, type FieldScope, hasScope, meets, type Need } from './caller.ts'
import type { Context } from './context.ts'
import { requestError } from './request-errors.ts'

/** The caller, if they reach that far: the check that opens a subscription; each event is checked again by its field. */
export function requireNeed<N extends Exclude<Need, 'anyone'>>(
  need: N,
  { caller }: Pick<Context, 'caller'>,
  scope?: FieldScope,
): CallerWith<N> & Caller {
  if (!caller) throw requestError('UNAUTHENTICATED')
  if (!meets(need, caller) || (scope && !hasScope(scope, caller))) throw requestError('FORBIDDEN')
  return caller
}
