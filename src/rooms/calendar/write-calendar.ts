import { Temporal } from '@js-temporal/polyfill'
import ical, { ICalAlarmType, ICalEventRepeatingFreq, type ICalWeekday } from 'ical-generator'
import { encodeTypeId } from '../../lib/type-id.ts'
import { WallTime, wallTimeAfter } from './wall-time.ts'
import { zoneBlock } from './zone-block.ts'

/** A schedule that is enabled, as a calendar shows it. */
export type Meeting = {
  scheduleId: string
  spaceName: string
  /** 0 is Sunday. */
  weekdays: readonly number[]
  /** `HH:MM`, on the wall. */
  openTime: string
  timezone: string
  windowMinutes: number
  revision: number
  /** The day of the first standup since the schedule was saved, in its zone. */
  startsOn: string
  updatedAt: Date
}

type Calendar = { meetings: readonly Meeting[]; remindMinutes: number; host: string }

const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'] as readonly ICalWeekday[]

/** The same text for the same schedules, so that a calendar need not read it again (ROOM-141, 142). */
export function writeCalendar({ meetings, remindMinutes, host }: Calendar): string {
  const calendar = ical({ prodId: '//Moothall//Standups//EN', name: 'Standups' })
  // Without a zone of the calendar's own, whatever is not in an event's zone is in UTC.
  calendar.timezone({ name: null, generator: (tzid) => blocks.get(tzid) ?? null })
  const blocks = new Map<string, string>()
  for (const meeting of meetings) {
    const zone = zoneBlock(meeting.timezone)
    if (!zone) continue // of a release that knew more zones; a time without its zone would be wrong
    blocks.set(zone.tzid, zone.block)
    const { scheduleId, windowMinutes, revision: sequence, updatedAt: stamp } = meeting
    const start = Temporal.PlainDateTime.from(`${meeting.startsOn}T${meeting.openTime}`)
    const summary = `Standup: ${onOneLine(meeting.spaceName)}`
    const event = calendar.createEvent({
      id: `${encodeTypeId('sch', scheduleId)}@${host}`,
      sequence,
      stamp,
      timezone: zone.tzid,
      start: new WallTime(start),
      end: new WallTime(wallTimeAfter(start, windowMinutes, meeting.timezone)),
      repeating: {
        freq: ICalEventRepeatingFreq.WEEKLY,
        byDay: meeting.weekdays.map((day) => DAYS[day]!),
      },
      summary,
    })
    event.createAlarm({ type: ICalAlarmType.display, triggerBefore: remindMinutes * 60, description: summary })
  }
  return `${calendar.toString()}\r\n`
}

/** The generator escapes what has a meaning; control characters have none and some readers end a line at them. */
const onOneLine = (text: string): string => text.replace(/(?!\r?\n|\r)[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
