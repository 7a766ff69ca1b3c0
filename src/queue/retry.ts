/** Give or take a fifth, so that what failed together is not tried again together. */
export const jittered = (milliseconds: number, spread = 0.2): number =>
  milliseconds * (1 - spread + Math.random() * 2 * spread)

export type RetryPolicy = {
  /** Pauses after the first failure, the second …, in milliseconds; the last one holds for all that follow. */
  readonly pauses: readonly number[]
  /** After so many failures it is dead. */
  readonly maxAttempts: number
}

/** Milliseconds to the next attempt, null when there is none (DESIGN §4). */
export function pauseAfter(failures: number, { pauses, maxAttempts }: RetryPolicy): number | null {
  if (failures >= maxAttempts) return null
  return jittered(pauses[Math.min(failures, pauses.length) - 1] ?? 0)
}
