import { Repeater } from '@repeaterjs/repeater'
import { Bell } from '../lib/bell.ts'
import { outside } from './outside.ts'

/** A NOTIFY that got lost delays a reader by this much at most. */
const POLL_EVERY = 5_000
const BEHIND_MIN = 50
const BEHIND_MAX = 1_000

export type Reading<T> = {
  /** Follows whatever may bring news; each call of `wake` leads to a read. Returns the release. */
  attach(wake: () => void): () => void
  /**
   * Reads what came since the last call, in an operation of its own. `behind`: there is more that cannot be seen yet, so
   * look again soon although nobody will call (PLAT-19).
   */
  read(): Promise<{ items: readonly T[]; behind?: boolean }>
  /** Milliseconds between reads without a call. */
  pollEvery?: number
}

/**
 * The source of a subscription that reads forward from a cursor. Calls that come while it is busy or while the peer has
 * not taken the last item are one call, so it never queues. Attaches with the first pull; ends at once when returned,
 * also with a read in flight (an async generator would wait for it, PLAT-30).
 */
export function sourceOf<T>({ attach, read, pollEvery = POLL_EVERY }: Reading<T>): Repeater<T> {
  return new Repeater<T>(async (push, stop) => {
    const bell = new Bell()
    const detach = outside(() => attach(() => bell.ring()))
    let stopped = false
    void stop.then(() => {
      stopped = true
      detach()
      bell.ring()
    })

    let patience = BEHIND_MIN
    bell.ring() // what came between the choice of the cursor and the attaching
    for (let wait = pollEvery; !stopped; ) {
      await bell.rung(wait)
      if (stopped) return
      const { items, behind } = await read()
      for (const item of items) {
        if (stopped) return
        await push(item)
      }
      if (items.length > 0) bell.ring()
      wait = behind ? patience : pollEvery
      patience = behind && items.length === 0 ? Math.min(BEHIND_MAX, patience * 2) : BEHIND_MIN
    }
  })
}
