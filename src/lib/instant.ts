/** RFC 3339 with a zone; up to six digits of a second. */
const FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/

/** An instant that PostgreSQL takes. `Date` lets more pass: the 30th of February, the year 0, offsets of 16 hours and more. */
export function isInstant(value: unknown): value is string {
  if (typeof value !== 'string' || !FORM.test(value)) return false
  if (Number.isNaN(Date.parse(value)) || /[+-](1[6-9]|2\d):\d\d$/.test(value)) return false
  const day = value.slice(0, 10)
  return day > '0001' && new Date(day).toISOString().startsWith(day)
}
