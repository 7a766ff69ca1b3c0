import { Temporal } from '@js-temporal/polyfill'

/** When a team wants its standup, by its own clock. */
export type SlotPattern = {
  /** 0 is Sunday. */
  readonly weekdays: readonly number[]
  /** `09:30` */
  readonly openTime: string
  readonly timezone: string
}

/** One standup that is due: its local date, and the instant of its opening. */
export type Slot = { readonly date: string; readonly opensAt: Temporal.Instant }

const DAYS_OF_WEEK = 7

/** The first slot strictly after an instant (ROOM-123). */
export function slotAfter(pattern: SlotPattern, instant: Temporal.Instant): Slot {
  const today = localDate(pattern.timezone, instant)
  // Where clocks skip the last hour of a day, its slot is in the next one. A week on, the same weekday comes again.
  for (let days = -1; days <= DAYS_OF_WEEK; days++) {
    const slot = slotOn(pattern, today.add({ days }))
    if (slot && Temporal.Instant.compare(slot.opensAt, instant) > 0) return slot
  }
  throw new RangeError('a schedule has a weekday')
}

/**
 * The slot of a local date, null on other weekdays. A local time that the clocks skip moves on by what they skip; of one
 * that they show twice it is the first (ROOM-122).
 */
export function slotOn({ weekdays, openTime, timezone }: SlotPattern, date: Temporal.PlainDate): Slot | null {
  if (!weekdays.includes(date.dayOfWeek % DAYS_OF_WEEK)) return null
  const local = date.toPlainDateTime(Temporal.PlainTime.from(openTime))
  return {
    date: date.toString(),
    opensAt: local.toZonedDateTime(timezone, { disambiguation: 'compatible' }).toInstant(),
  }
}

/** The local date of the slot that opens at an instant, which is the day before where clocks skip the last hour of one. */
export function dateOfSlot(pattern: SlotPattern, opensAt: Temporal.Instant): string {
  const shown = localDate(pattern.timezone, opensAt)
  const days = [shown, shown.subtract({ days: 1 })]
  return (days.find((day) => slotOn(pattern, day)?.opensAt.equals(opensAt)) ?? shown).toString()
}

/** Today, where the team is. */
export const localDate = (timezone: string, now: Temporal.Instant): Temporal.PlainDate =>
  now.toZonedDateTimeISO(timezone).toPlainDate()
