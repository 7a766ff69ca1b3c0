import type { Logger } from 'pino'
import { fireDueRooms } from './room/fire-due-rooms.ts'
import { pruneRoomEvents } from './room/prune-room-events.ts'
import { sweepPresence } from './room/sweep-presence.ts'

const SECOND = 1_000
const HOUR = 3_600_000

/**
 * The work of rooms that time asks for; every process does it, and none does another's twice. Errors are logged and the
 * next round tries again. `stop` waits for what runs.
 */
export function startRoomSweeps(log: Logger): { stop(): Promise<void> } {
  const logged = (what: string, work: () => Promise<unknown>) => async () => {
    try {
      await work()
    } catch (error) {
      log.warn({ err: error, sweep: what }, 'a sweep of rooms failed')
    }
  }
  const unit = (what: string) => (work: () => Promise<void>) => logged(what, work)()
  const loops = [
    repeat(
      SECOND,
      logged('due rooms', () => fireDueRooms(unit('due rooms'))),
    ),
    repeat(
      5 * SECOND,
      logged('presence', () => sweepPresence(unit('presence'))),
    ),
    repeat(HOUR, logged('room events', pruneRoomEvents)),
  ]
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()))
    },
  }
}

/** Runs `work` again and again, each time `pause` after it has ended, so that it never overtakes itself. */
function repeat(pause: number, work: () => Promise<void>): { stop(): Promise<void> } {
  let running = Promise.resolve()
  let timer: NodeJS.Timeout
  let stopped = false
  const wait = () => {
    timer = setTimeout(() => {
      running = work().then(() => {
        if (!stopped) wait()
      })
    }, pause).unref()
  }
  wait()
  return {
    stop: () => {
      stopped = true
      clearTimeout(timer)
      return running
    },
  }
}
