/** What the server does when a room's timer ends. */
export const TIMER_ENDS = ['none', 'reveal'] as const
export type TimerEnd = (typeof TIMER_ENDS)[number]
