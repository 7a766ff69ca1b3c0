import type { RateLimitKind } from './limits.ts'
import type { RateLimiter, RateLimitKey } from './rate-limiter.ts'

/** Every limit one attempt counts against, with whom it counts; the narrowest first. */
export type AttemptLimits = Partial<Record<RateLimitKind, RateLimitKey>>

export type Attempt =
  | {
      allowed: true
      /** It was no failure after all: a right password, or a fault of ours. */
      forgive(): Promise<void>
    }
  | { allowed: false; retryAfterSeconds: number }

/**
 * Begins an attempt that counts when it fails: it is counted now and forgiven when it succeeds, so that many at once
 * cannot all slip through before the first has failed. Refused by one limit, it counts against none.
 */
export async function startAttempt(limiter: RateLimiter, limits: AttemptLimits): Promise<Attempt> {
  const counted: [RateLimitKind, RateLimitKey][] = []
  const forgive = async () => {
    await Promise.all(counted.splice(0).map(([kind, key]) => limiter.giveBack(kind, key)))
  }
  // One after the other: a flood that the first limit refuses never touches those it shares with others.
  for (const [kind, key] of Object.entries(limits) as [RateLimitKind, RateLimitKey][]) {
    const state = await limiter.take(kind, key)
    if (!state.allowed) {
      await forgive()
      return { allowed: false, retryAfterSeconds: state.retryAfterSeconds }
    }
    if (state.counted) counted.push([kind, key])
  }
  return { allowed: true, forgive }
}

/** A try of a password, code or link: by person and address, by person, by address. An unknown email counts alike. */
export const signInLimits = (person: string, address: string): AttemptLimits => ({
  signInPersonAddress: [person, address],
  signInPerson: person,
  signInAddress: address,
})
