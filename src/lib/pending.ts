/** Work that no caller waits for. Whoever closes what it stands on waits for it. */
export class Pending {
  readonly #running = new Set<Promise<unknown>>()

  /** The work answers for its errors: one that gets out is lost. */
  add(work: Promise<unknown>): void {
    const running = work
      .catch(() => {})
      .finally(() => {
        this.#running.delete(running)
      })
    this.#running.add(running)
  }

  /** Resolves when nothing runs any more, what was added meanwhile included. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }
}
