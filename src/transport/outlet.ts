import { streamsCollapsed } from '../lib/metrics.ts'
import { UNSENT_MAX } from '../live/direct-stream.ts'

/** Where the initial context of an operation holds its outlet; absent where nothing can be streamed. */
export const OUTLET: unique symbol = Symbol('outlet')

/** One operation's way to its peer, laid by its transport. */
export type Outlet = {
  /** Whether its connection was opened for this operation, or carries others too. */
  readonly connection: 'own' | 'shared'
  /** Calls once when the peer is gone; at once when it is already. Returns the end of it. */
  onClose(gone: () => void): () => void
  /** Takes results directly, beside those that are pulled. */
  writer(): FrameWriter
}

export type FrameWriter = {
  write(json: string): void
  readonly unsent: number
  drained(): Promise<void>
}

export function outletOf(context: object): Outlet | undefined {
  return (context as { [OUTLET]?: Outlet })[OUTLET]
}

/** Keeps a peer from falling further behind than PLAT-34 lets it. What went out on an empty line is not counted. */
export class BoundedWriter {
  readonly #writer: FrameWriter
  #uncounted = 0

  constructor(writer: FrameWriter) {
    this.#writer = writer
  }

  get unsent(): number {
    return Math.max(0, this.#writer.unsent - this.#uncounted)
  }

  /** False when the peer is too far behind. */
  write(json: string): boolean {
    const waiting = this.#writer.unsent
    const onEmptyLine = waiting === 0
    if (onEmptyLine) this.#uncounted = 0
    else if (waiting - this.#uncounted > UNSENT_MAX) {
      streamsCollapsed.inc()
      return false
    }
    this.#writer.write(json)
    if (onEmptyLine) this.#uncounted = this.#writer.unsent
    return true
  }

  drained(): Promise<void> {
    return this.#writer.drained()
  }
}
