/** Reckons with what a wall clock in a zone shows, by the runtime's Intl alone: nothing of the product's way is in it. */
export class WallClock {
  readonly #format: Intl.DateTimeFormat

  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  }

  /** `2026-03-29 03:30` */
  shown(instant: number): string {
    return this.#format.format(instant)
  }

  /** The first instant at which it shows that; undefined where it skips it. */
  firstShowing(date: string, time: string): number | undefined {
    const asIfUtc = Date.parse(`${date}T${time}:00Z`)
    for (let at = asIfUtc - 15 * HOUR; at <= asIfUtc + 15 * HOUR; at += QUARTER) {
      if (this.shown(at) === `${date} ${time}`) return at
    }
    return undefined
  }

  /** When a standup of that day opens: the time it shows first, or as long after midnight where it shows it never. */
  opening(date: string, time: string): number {
    const midnight = this.firstShowing(date, '00:00')
    if (midnight === undefined) throw new Error(`no midnight on ${date}`)
    return this.firstShowing(date, time) ?? midnight + Date.parse(`1970-01-01T${time}:00Z`)
  }
}

const QUARTER = 900_000
const HOUR = 3_600_000

/** So many local dates, from that one on. */
export const datesFrom = (first: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => new Date(Date.parse(first) + at * 24 * HOUR).toISOString().slice(0, 10))
