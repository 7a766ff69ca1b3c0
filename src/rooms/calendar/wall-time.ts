import type { Temporal } from '@js-temporal/polyfill'
import type { ICalDayJsStub } from 'ical-generator'

/**
 * A time as it stands on a wall, written to the letter. The generator would move one that a zone's clocks skip on that day,
 * and with it all days that recur from it.
 */
export class WallTime implements ICalDayJsStub {
  readonly #time: Temporal.PlainDateTime

  constructor(time: Temporal.PlainDateTime) {
    this.#time = time
  }

  /** The generator joins what it asks for, `YYYYMMDD` and `HHmmss`, with a T. */
  format(pattern?: string): string {
    const digits = this.#time.toString({ smallestUnit: 'second' }).replace(/[-:]/g, '')
    return pattern === 'HHmmss' ? digits.slice(-6) : digits.slice(0, 8)
  }

  isValid(): boolean {
    return true
  }

  /** For the order of start and end alone. */
  toDate(): Date {
    return new Date(this.#time.toZonedDateTime('UTC').epochMilliseconds)
  }

  toJSON(): string {
    return this.#time.toString()
  }

  tz(): WallTime {
    return this
  }
}

/** On the same clock, where what it shows then can be told from what it shows an hour before or after. */
export function wallTimeAfter(
  start: Temporal.PlainDateTime,
  minutes: number,
  timezone: string,
): Temporal.PlainDateTime {
  const end = start.toZonedDateTime(timezone).add({ minutes })
  const shown = end.toPlainDateTime()
  return shown.toZonedDateTime(timezone).equals(end) ? shown : start.add({ minutes })
}
