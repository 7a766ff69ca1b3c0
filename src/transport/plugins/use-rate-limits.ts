import type { ExecutionArgs } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { actorId } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { addressKey, type RateLimiter, type RateLimitState } from '../../platform/index.ts'
import type { Principal } from '../principal.ts'
import type { ServerContext } from './use-principal.ts'

type Counted = Pick<Principal, 'caller' | 'client'>

/** Bounds what one actor may ask of this process in a minute: requests, and the cost of what they run (PLAT-69, 71). */
export function useRateLimits(limiter: RateLimiter): Plugin<Context, ServerContext> {
  const spend = ({ contextValue }: ExecutionArgs) => spendCost(limiter, contextValue as Context)
  return {
    async onParams({ context }) {
      const { principal, res } = context as ServerContext
      if (!principal) return
      const state = await takeRequest(limiter, principal)
      res.setHeader('x-ratelimit-limit', state.limit)
      res.setHeader('x-ratelimit-remaining', state.remaining)
      res.setHeader('x-ratelimit-reset', Math.ceil((state.resetAt.getTime() - Date.now()) / 1000))
      requireAllowed(state)
    },
    // Not before: what is executed around it may do without.
    onExecute: ({ executeFn, setExecuteFn }) =>
      setExecuteFn(async (args: ExecutionArgs) => {
        await spend(args)
        return executeFn(args as never)
      }),
    onSubscribe: ({ args }) => spend(args),
  }
}

/** Counts one operation of a socket, or throws RATE_LIMITED. */
export async function admitRequest(limiter: RateLimiter, counted: Counted): Promise<void> {
  requireAllowed(await takeRequest(limiter, counted))
}

/** Counts one request, also one that will be refused for what it asks. */
function takeRequest(limiter: RateLimiter, { caller, client }: Counted): Promise<RateLimitState> {
  if (!caller) return limiter.take('nobodyRequests', addressKey(client.address))
  if (caller.kind === 'session') return limiter.take('personRequests', caller.userId)
  const own = caller.kind === 'agent' ? caller.rateLimit : null // ID-47
  return limiter.take('agentRequests', actorId(caller), 1, own ?? undefined)
}

/** Takes what the limits have counted off the actor's minute. A document that costs nothing is free. */
async function spendCost(limiter: RateLimiter, context: Context): Promise<void> {
  const { caller, client, cost } = context
  if (!cost) return
  const actor = caller ? actorId(caller) : addressKey(client.address)
  const state = await (cost.requested > 0 ? limiter.take('cost', actor, cost.requested) : limiter.peek('cost', actor))
  cost.budget = { limit: state.limit, remaining: state.remaining, resetAt: state.resetAt }
  requireAllowed(state)
}

function requireAllowed({ allowed, retryAfterSeconds }: RateLimitState): void {
  if (!allowed) throw requestError('RATE_LIMITED', { retryAfterSeconds })
}
