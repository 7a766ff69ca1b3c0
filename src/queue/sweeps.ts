import type { Logger } from 'pino'
import { operation } from '../db/operation.ts'
import { sweepFailures } from '../lib/metrics.ts'

/** Runs one piece of a sweep and answers for its errors, so that one that fails keeps none of the others from running. */
export type Unit = (work: () => Promise<void>) => Promise<void>

/** Work that time asks for. Every process does it; claims that skip locked rows keep two from doing the same piece. */
export type Sweep = {
  readonly name: string
  /** Milliseconds between the end of one round and the next. */
  readonly every: number
  readonly work: (unit: Unit) => Promise<unknown>
}

/** Starts them all. What fails is logged and tried again with the next round; `stop` waits for what runs. */
export function startSweeps(sweeps: readonly Sweep[], log: Logger): { stop(): Promise<void> } {
  const loops = sweeps.map(({ name, every, work }) => {
    const logged = async (piece: () => Promise<unknown>) => {
      try {
        await piece()
      } catch (error) {
        sweepFailures.inc({ sweep: name })
        log.warn({ err: error, sweep: name }, 'a sweep failed')
      }
    }
    return repeat(every, () => logged(() => work(logged)))
  })
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

/** Repeats a bounded deletion until it finds less than its bound; gives how many rows went. */
export async function drainInPasses(bound: number, pass: () => Promise<number>): Promise<number> {
  let gone = 0
  for (let removed = bound; removed === bound; gone += removed) removed = await pass()
  return gone
}

/** The same by a function of the database that says how many rows it removed; each pass is a sweep operation of its own. */
export function prune(bound: number, pass: (bound: number) => Promise<{ removed: number }>): Promise<number> {
  return drainInPasses(bound, async () => (await operation('sweep', {}, () => pass(bound))).removed)
}
