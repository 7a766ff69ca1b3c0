import { Temporal } from '@js-temporal/polyfill'
import { invalidInput } from '../../graphql/errors.ts'

/** Days on which somebody is away, the last one included. */
export type Range = { startsOn: string; endsOn: string }

const DAYS_MAX = 90

/** ROOM-130; the table holds the same. */
export function requireRange({ startsOn, endsOn }: Range): void {
  const { days } = Temporal.PlainDate.from(startsOn).until(endsOn, { largestUnit: 'days' })
  if (days < 0) throw invalidInput('endsOn', 'must not be before startsOn')
  if (days >= DAYS_MAX) throw invalidInput('endsOn', `must be at most ${DAYS_MAX - 1} days after startsOn`)
}
