/** RFC 3339 with a zone; up to six digits of a second. */
const FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/

/** An instant that PostgreSQL takes. `Date` lets more pass: the 30th of February, the year 0, offsets of 16 hours and more. */
export function isInstant(value: unknown): value is string {
  if (typeof value !== 'string' || !FORM.test(value)) return false
  if (Number.isNaN(Date.parse(value)) || /[+-](1[6-9]|2\d):\d\d$/.test(value)) return false
  return isDay(value.slice(0, 10))
}

/** A day of the calendar that PostgreSQL takes. */
export function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value) || value < '0001') return false
  const read = new Date(value)
  return !Number.isNaN(read.getTime()) && read.toISOString().startsWith(value)
}
