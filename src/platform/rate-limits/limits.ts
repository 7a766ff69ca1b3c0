/**
 * All rates (PLAT-69). What mints or tries credentials is counted for all processes together, requests and cost by
 * each for itself. When the shared store fails, nobody signs in, and who is signed in works on (PLAT-70).
 */
export const RATE_LIMITS = {
  /** Failed sign-ins of one person from one address. A right password is forgiven: see `startAttempt`. */
  signInPersonAddress: { points: 5, seconds: 15 * 60, store: 'shared', onStoreFailure: 'refuse' },
  signInAddress: { points: 50, seconds: 15 * 60, store: 'shared', onStoreFailure: 'refuse' },
  signInPerson: { points: 20, seconds: 60 * 60, store: 'shared', onStoreFailure: 'refuse' },
  embedHandoff: { points: 30, seconds: 10 * 60, store: 'shared', onStoreFailure: 'refuse' },
  anonymousSession: { points: 30, seconds: 10 * 60, store: 'shared', onStoreFailure: 'refuse' },
  /** A team may come by one link from one office. */
  linkRedemption: { points: 100, seconds: 10 * 60, store: 'shared', onStoreFailure: 'refuse' },
  /** Asking for a sign-in mail, and for a place on the waitlist. */
  loginRequest: { points: 20, seconds: 60 * 60, store: 'shared', onStoreFailure: 'refuse' },
  waitlistJoin: { points: 20, seconds: 60 * 60, store: 'shared', onStoreFailure: 'refuse' },
  /** Wrong passcodes of one person at one space (ROOM-14). */
  spacePasscode: { points: 10, seconds: 60, store: 'shared', onStoreFailure: 'pass' },
  /** Fetches of one person's calendar feed (ROOM-141). */
  calendarFetches: { points: 60, seconds: 60 * 60, store: 'shared', onStoreFailure: 'pass' },
  /** Keys that did not hold, by where they came from and by their prefix (ID-51). */
  keyFailuresOfAddress: { points: 20, seconds: 60, store: 'shared', onStoreFailure: 'pass' },
  keyFailuresOfPrefix: { points: 20, seconds: 60, store: 'shared', onStoreFailure: 'pass' },
  personRequests: { points: 600, seconds: 60, store: 'process', onStoreFailure: 'pass' },
  /** Of one agent that has no rate of its own, or of one admin key. */
  agentRequests: { points: 300, seconds: 60, store: 'process', onStoreFailure: 'pass' },
  /** Requests of nobody, by address. */
  nobodyRequests: { points: 60, seconds: 60, store: 'process', onStoreFailure: 'pass' },
  /** Query cost of one actor. */
  cost: { points: 200_000, seconds: 60, store: 'process', onStoreFailure: 'pass' },
} as const satisfies Record<string, RateLimit>

export type RateLimitKind = keyof typeof RATE_LIMITS

export type RateLimit = {
  points: number
  seconds: number
  store: 'shared' | 'process'
  onStoreFailure: 'refuse' | 'pass'
}
