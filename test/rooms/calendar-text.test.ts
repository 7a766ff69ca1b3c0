import { Temporal } from '@js-temporal/polyfill'
import ICAL from 'ical.js'
import nodeIcal, { type VEvent } from 'node-ical'
import { tzlib_get_timezones } from 'timezones-ical-library'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/type-id.ts'
import { type Meeting, writeCalendar } from '../../src/rooms/calendar/write-calendar.ts'

const HOST = 'meet.example:8443'
const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6]
const meeting = (own: Partial<Meeting> = {}): Meeting => ({
  scheduleId: newId(),
  spaceName: 'Team',
  weekdays: EVERY_DAY,
  openTime: '09:00',
  timezone: 'Europe/Berlin',
  windowMinutes: 90,
  revision: 1,
  startsOn: '2026-12-01',
  updatedAt: new Date('2026-11-30T10:11:12.345Z'),
  ...own,
})
const write = (meetings: readonly Meeting[], remindMinutes = 10) =>
  writeCalendar({ meetings, remindMinutes, host: HOST })
const written = (own: Partial<Meeting>, remindMinutes?: number) => write([meeting(own)], remindMinutes)

/** The instants of the slots in the year from the first day on, by the calculation that opens them (ROOM-122). */
function slotsOf({ startsOn, weekdays, openTime, timezone }: Meeting, days = 365): number[] {
  const first = Temporal.PlainDate.from(startsOn)
  return Array.from({ length: days }, (_, at) => first.add({ days: at }))
    .filter(({ dayOfWeek }) => weekdays.includes(dayOfWeek % 7))
    .map((day) => day.toZonedDateTime({ timeZone: timezone, plainTime: openTime }).epochMilliseconds)
}

function byIcalJs(text: string, count: number): { starts: number[]; event: ICAL.Event } {
  const event = new ICAL.Event(new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent')!)
  const next = event.iterator()
  return { starts: Array.from({ length: count }, () => next.next()!.toJSDate().getTime()), event }
}

function byNodeIcal(text: string, [from, to]: [number, number]): { starts: number[]; event: VEvent } {
  const event = Object.values(nodeIcal.sync.parseICS(text)).find((part) => part?.type === 'VEVENT') as VEvent
  const starts = event.rrule!.between(new Date(from), new Date(to), true)
  return { starts: starts.map((start) => start.getTime()), event }
}

const linesOf = (text: string) => text.replace(/\r\n[ \t]/g, '').split('\r\n')

describe('ROOM-142 the instants of the next year are those of the slots', () => {
  it.each([
    ['Asia/Tokyo', '09:00'],
    ['America/New_York', '09:30'],
    ['America/New_York', '23:45'],
    ['Europe/Berlin', '08:15'],
    ['Europe/Berlin', '00:05'],
    ['Australia/Lord_Howe', '10:00'],
    ['Australia/Lord_Howe', '23:30'],
    ['America/Phoenix', '23:30'],
    ['Asia/Kathmandu', '06:00'],
  ])('in %s at %s, to two readers', (timezone, openTime) => {
    const shown = meeting({ timezone, openTime, weekdays: [1, 2, 4], startsOn: '2026-12-01' })
    const text = write([shown])
    const slots = slotsOf(shown)
    expect(slots.length).toBeGreaterThan(150)
    expect(byIcalJs(text, slots.length).starts).toEqual(slots)
    expect(byNodeIcal(text, [slots[0]!, slots.at(-1)!]).starts).toEqual(slots)
  })

  it.each([
    ['America/New_York', '2027-03-14T02:30', '2027-03-14T07:30:00Z'],
    ['Europe/Berlin', '2027-03-28T02:30', '2027-03-28T01:30:00Z'],
  ])(
    'a first slot in %s at %s, which the clocks skip, says its time to the letter and recurs at it',
    (timezone, wall, at) => {
      const [startsOn, openTime] = wall.split('T') as [string, string]
      const text = written({ timezone, openTime, startsOn })
      const start = `DTSTART;TZID=${timezone}:${wall.replace(/[-:]/g, '')}00`
      expect(linesOf(text)).toContain(start)
      // Ninety minutes from when it opens.
      const end = Temporal.Instant.from(at).add({ minutes: 90 }).toZonedDateTimeISO(timezone).toPlainDateTime()
      expect(linesOf(text)).toContain(
        `DTEND;TZID=${timezone}:${end.toString({ smallestUnit: 'second' }).replace(/[-:]/g, '')}`,
      )
      const { starts } = byIcalJs(text, 3)
      const days = slotsOf(meeting({ timezone, openTime, startsOn }), 3)
      expect(starts.slice(1)).toEqual(days.slice(1))
    },
  )

  it('a window over a change of the clocks is as long as any other', () => {
    const text = written({ timezone: 'Europe/Berlin', openTime: '23:30', startsOn: '2027-03-27', windowMinutes: 240 })
    const { event } = byNodeIcal(text, [0, 1])
    expect(event.end!.getTime() - event.start.getTime()).toBe(240 * 60_000)
    expect(linesOf(text)).toContain('DTEND;TZID=Europe/Berlin:20270328T043000')
  })

  it('a window that ends in the hour that comes twice does not end as it begins', () => {
    const text = written({ timezone: 'America/New_York', openTime: '01:30', startsOn: '2027-11-07', windowMinutes: 60 })
    expect(linesOf(text)).toContain('DTEND;TZID=America/New_York:20271107T023000')
  })
})

describe('ROOM-143 zones', () => {
  it('every zone that both the runtime and the library know resolves in the feed, at the runtime’s offsets', () => {
    const known = [tzlib_get_timezones()].flat().filter((zone) => {
      try {
        return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }))
      } catch {
        return false
      }
    })
    expect(known.length).toBeGreaterThan(400)
    const wrong = known.filter((timezone) => {
      const shown = meeting({ timezone, weekdays: [3], startsOn: '2026-12-02' })
      const slots = slotsOf(shown)
      return byIcalJs(write([shown]), slots.length).starts.some((start, at) => start !== slots[at])
    })
    expect(wrong).toEqual([])
  }, 120_000)

  it.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Europe/London', 'America/Sao_Paulo'])(
    'of %s a calendar is told the rules, not dates',
    (timezone) => {
      const [block] = written({ timezone }).match(/BEGIN:VTIMEZONE[\s\S]*END:VTIMEZONE/) ?? ['']
      const changes = new Set(
        [2027, 2040].map((year) =>
          Temporal.PlainDate.from({ year, month: 1, day: 1 }).toZonedDateTime(timezone).getTimeZoneTransition('next'),
        ),
      )
      expect(block).not.toContain('RDATE')
      expect(block.match(/RRULE:FREQ=YEARLY/g)?.length ?? 0).toBe(changes.has(null) ? 0 : 2)
    },
  )

  it('two names of one zone and two schedules in one have one block, under the name that the events use', () => {
    const zones = ['US/Eastern', 'America/New_York', 'UTC', 'Etc/UTC', 'Asia/Calcutta', 'Asia/Kolkata', 'Asia/Kolkata']
    const text = write(zones.map((timezone) => meeting({ timezone })))
    const blocks = [...text.matchAll(/BEGIN:VTIMEZONE\r\nTZID:(.*)\r\n/g)].map(([, tzid]) => tzid!)
    const named = new Set([...text.matchAll(/^DT(?:START|END);TZID=([^:]+):/gm)].map(([, tzid]) => tzid!))
    expect(blocks.toSorted()).toEqual([...named].toSorted())
    expect(blocks).toHaveLength(3)
  })

  it('a zone that the library does not know takes its schedule out of the feed rather than make it float', () => {
    const text = write([meeting({ timezone: 'Nowhere/Land' }), meeting({ spaceName: 'Kept' })])
    expect(linesOf(text).filter((line) => line.startsWith('SUMMARY:'))).toEqual(['SUMMARY:Standup: Kept'])
  })
})

describe('ROOM-142 an event', () => {
  it('has what its schedule says, and one alarm', () => {
    const shown = meeting({ weekdays: [0, 3], revision: 7, openTime: '07:45', windowMinutes: 1_440 })
    const lines = linesOf(write([shown], 30))
    const event = lines.slice(lines.indexOf('BEGIN:VEVENT'), lines.indexOf('END:VEVENT') + 1)
    expect(event.toSpliced(1, 1)).toMatchInlineSnapshot(`
      [
        "BEGIN:VEVENT",
        "SEQUENCE:7",
        "DTSTAMP:20261130T101112Z",
        "DTSTART;TZID=Europe/Berlin:20261201T074500",
        "DTEND;TZID=Europe/Berlin:20261202T074500",
        "RRULE:FREQ=WEEKLY;BYDAY=SU,WE",
        "SUMMARY:Standup: Team",
        "BEGIN:VALARM",
        "ACTION:DISPLAY",
        "TRIGGER:-PT30M",
        "DESCRIPTION:Standup: Team",
        "END:VALARM",
        "END:VEVENT",
      ]
    `)
    expect(event[1]).toMatch(/^UID:sch_[0-9a-z]{26}@meet\.example:8443$/)
  })

  it.each([
    [0, 'PT0S'],
    [1, '-PT1M'],
    [60, '-PT1H'],
    [1_440, '-P1D'],
  ])('reminds %i minutes before, once', (minutes, trigger) => {
    const { event } = byIcalJs(written({}, minutes), 1)
    const alarms = event.component.getAllSubcomponents('valarm')
    expect(alarms).toHaveLength(1)
    expect(linesOf(written({}, minutes))).toContain(`TRIGGER:${trigger}`)
    const before = alarms[0]!.getFirstPropertyValue('trigger') as ICAL.Duration
    expect(before.toSeconds()).toBe(minutes * -60 || 0)
  })

  it('no time floats: each names its zone or is in UTC', () => {
    const text = write([meeting(), meeting({ timezone: 'Asia/Tokyo' })])
    const ofEvents = linesOf(text.replace(/BEGIN:VTIMEZONE[\s\S]*?END:VTIMEZONE\r\n/g, ''))
    const times = ofEvents.filter((line) => /\d{8}T\d{6}/.test(line))
    expect(times).toHaveLength(6)
    for (const time of times) expect(time).toMatch(/;TZID=[^:]+:\d{8}T\d{6}$|:\d{8}T\d{6}Z$/)
  })

  it('without schedules it is a calendar all the same', () => {
    expect(new ICAL.Component(ICAL.parse(write([]))).getAllSubcomponents('vevent')).toEqual([])
  })
})

describe('ROOM-143 no name adds a line, a property or a component', () => {
  const NAMES = [
    'A\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nUID:evil\r\nX-EVIL:1',
    'A\nATTENDEE:mailto:evil@example.org',
    'A\rEND:VCALENDAR',
    'commas, semicolons; and back\\slashes\\, \\n, "quotes" : colons',
    'a tab\tand a \u2028 line, a \u2029 paragraph, a \u0085 next line, a \u000b and a \u001b',
    '🎉 Feiern für alle 🎉 こんにちは世界、スタンドアップの時間です 🎉🎉🎉🎉🎉🎉',
    'x'.repeat(64),
    '\ud83e\uddd1\u200d\ud83d\ude80'.repeat(12),
    'BEGIN:VALARM',
    ' leading and trailing ',
  ]
  const asShown = (name: string) =>
    `Standup: ${name.replace(/\r\n|\r/g, '\n').replace(/(?!\n)[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')}`

  it.each(NAMES)('such as %j', (spaceName) => {
    const text = written({ spaceName })
    const plain = linesOf(written({}))
    const lines = linesOf(text)
    expect(lines.map((line) => /^[A-Z-]+/.exec(line)?.[0])).toEqual(plain.map((line) => /^[A-Z-]+/.exec(line)?.[0]))
    const { event } = byIcalJs(text, 1)
    expect(event.summary).toBe(asShown(spaceName))
    const calendar = new ICAL.Component(ICAL.parse(text))
    expect(calendar.getAllSubcomponents().map(({ name }) => name)).toEqual(['vtimezone', 'vevent'])
    // This reader takes a backslash before an n for the end of a line even where the backslash itself is escaped.
    if (!spaceName.includes('\\n')) expect(byNodeIcal(text, [0, 1]).event.summary).toBe(asShown(spaceName))
  })

  it.each(NAMES)('and no line is over 75 octets or breaks a character: %j', (spaceName) => {
    const text = written({ spaceName })
    expect(text.endsWith('END:VCALENDAR\r\n')).toBe(true)
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
    for (const line of text.split('\r\n')) {
      expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
      expect(line.isWellFormed()).toBe(true)
    }
  })
})

it('ROOM-141 the same schedules are the same text, whenever they are asked for', () => {
  const shown = [meeting(), meeting({ timezone: 'Asia/Tokyo' })]
  expect(write(shown)).toBe(write(shown))
  expect(write(shown, 11)).not.toBe(write(shown))
})
