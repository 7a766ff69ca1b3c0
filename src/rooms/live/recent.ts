import type { SharedQuery } from './shared-query.ts'

/** How long a frame is kept: as long as those who were cut off together take to come back. */
const KEPT = 60_000
/** Bytes that a channel keeps at most. */
const BYTES_MAX = 262_144

type Kept = { version: bigint; query: SharedQuery; frame: string; at: number }

/**
 * The frames that a channel rendered last for all who ask the same. A crowd that comes back finds there what it missed, so
 * it costs the database by rooms and not by heads (ROOM-173).
 */
export class Recent {
  readonly #frames = new Map<SharedQuery, Map<bigint, string>>()
  /** In the order they were kept. */
  #kept: Kept[] = []
  #bytes = 0

  keep(query: SharedQuery, version: bigint, frame: string): void {
    const frames = this.#frames.get(query) ?? new Map<bigint, string>()
    this.#frames.set(query, frames)
    if (frames.has(version)) return
    frames.set(version, frame)
    this.#kept.push({ version, query, frame, at: performance.now() })
    this.#bytes += frame.length
    this.#forget()
  }

  /** What comes after one version up to another; null where any of it is not there. */
  between(query: SharedQuery, after: bigint, to: bigint): string[] | null {
    this.#forget()
    const frames = this.#frames.get(query)
    const found: string[] = []
    for (let version = after + 1n; version <= to; version++) {
      const frame = frames?.get(version)
      if (frame === undefined) return null
      found.push(frame)
    }
    return found
  }

  #forget(): void {
    const oldest = performance.now() - KEPT
    let gone = 0
    for (const { version, query, frame, at } of this.#kept) {
      if (at >= oldest && this.#bytes <= BYTES_MAX) break
      const frames = this.#frames.get(query)
      frames?.delete(version)
      if (frames?.size === 0) this.#frames.delete(query)
      this.#bytes -= frame.length
      gone += 1
    }
    if (gone > 0) this.#kept = this.#kept.slice(gone)
  }
}
