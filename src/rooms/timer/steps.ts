import { fact, type Step } from '../room/change.ts'
import type { LockedRoom } from '../room/lock-room.ts'
import { timerSet } from './events.ts'
import type { TimerEnd } from './timer.ts'

type Running = { startedAt: string; endsAt: string; onEnd: TimerEnd }

/** Starts the timer or moves its end; a room has one (ROOM-80). */
export function timerStep(
  { startedAt, endsAt, onEnd }: Running,
  change: { change: 'started' | 'extended'; seconds: number },
): Step {
  return {
    type: 'TimerChanged',
    payload: { startedAt, endsAt, onEnd },
    set: { timer_started_at: startedAt, timer_ends_at: endsAt, timer_on_end: onEnd },
    fact: fact(timerSet, { ...change, onEnd }),
  }
}

/** Stops the timer along with what it ran for; nothing where none runs (ROOM-33, 81). */
export function timerStoppedStep({ timerStartedAt }: LockedRoom): Step[] {
  if (timerStartedAt === null) return []
  return [
    {
      type: 'TimerChanged',
      payload: { startedAt: null, endsAt: null, onEnd: 'none' },
      set: { timer_started_at: null, timer_ends_at: null, timer_on_end: 'none' },
    },
  ]
}
