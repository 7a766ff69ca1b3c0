/** Lets `limit` tasks run at once and `waiting` more queue in order; what comes beyond is refused at once. */
export class Slots {
  limit: number
  readonly #waiting: number
  readonly #refusal: () => Error
  readonly #queue: (() => void)[] = []
  #running = 0

  constructor(options: { limit: number; waiting: number; refusal: () => Error }) {
    this.limit = options.limit
    this.#waiting = options.waiting
    this.#refusal = options.refusal
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running < this.limit) this.#running++
    else if (this.#queue.length < this.#waiting) await new Promise<void>((resolve) => this.#queue.push(resolve))
    else throw this.#refusal()
    try {
      return await task()
    } finally {
      // The slot passes straight on to the next in line, so that nobody can step in between.
      const next = this.#running <= this.limit ? this.#queue.shift() : undefined
      if (next) next()
      else this.#running--
    }
  }
}
