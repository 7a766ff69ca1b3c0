import { operation } from '../../db/operation.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { scopeOf } from '../../graphql/context.ts'
import { ConflictError, ForbiddenError, invalidInput, NotFoundError } from '../../graphql/errors.ts'
import { holdMembership } from '../session/lock-person.ts'
import { bindHandoffTo } from '../session/preauth.ts'
import { bytes32 } from './secrets.ts'

type Bind = { challenge: string; code: string }

/**
 * Lets the frame that shows the code become the caller, in the org that is active now (ID-31). The operation commits
 * whatever comes of it: a wrong code counts, and the fifth kills the hand-off.
 */
export async function bindHandoff(caller: SessionCaller, { challenge, code }: Bind): Promise<object> {
  const hash = bytes32('challenge', challenge)
  const outcome = await operation('write', scopeOf(caller), async () => {
    if ((await holdMembership(caller)) === null) throw new ForbiddenError() // taken meanwhile
    return bindHandoffTo(hash, code.toUpperCase())
  })
  if (outcome === 'absent') throw new NotFoundError('challenge')
  if (outcome === 'taken') throw new ConflictError('Somebody has bound this hand-off already.')
  if (outcome === 'wrong_code') throw invalidInput('code', 'is not what the frame shows')
  return {}
}
