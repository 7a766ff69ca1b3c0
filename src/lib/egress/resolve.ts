import { lookup } from 'node:dns/promises'
import { EgressError } from './errors.ts'

export type Resolved = { address: string; family: number }
/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly Resolved[]>

/** As the operating system has it, its hosts file included. */
export const resolveAll: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true })

/**
 * The same with a bound, and one look-up a name at a time. The system's cannot be called off and few run at once, so a name
 * whose server never answers would otherwise pile them up, and those of everybody else would wait behind.
 */
export function boundedResolve(resolve: Resolve, timeout: number): Resolve {
  const underWay = new Map<string, ReturnType<Resolve>>()
  return async (hostname) => {
    const shared = underWay.get(hostname) ?? resolve(hostname).finally(() => underWay.delete(hostname))
    underWay.set(hostname, shared)
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new EgressError('timeout')), timeout)
    try {
      return await Promise.race([shared, late])
    } finally {
      clearTimeout(timer)
    }
  }
}
