import { Temporal } from '@js-temporal/polyfill'
import { expect, it } from 'vitest'
import { dateOfSlot, type SlotPattern, slotAfter } from '../../src/rooms/schedule/slots.ts'

const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6]

/** Dates and instants of the slots after an instant. */
function slotsAfter(pattern: SlotPattern, from: string, count: number): string[] {
  let at = Temporal.Instant.from(from)
  return Array.from({ length: count }, () => {
    const slot = slotAfter(pattern, at)
    at = slot.opensAt
    expect(dateOfSlot(pattern, slot.opensAt)).toBe(slot.date)
    return `${slot.date} ${slot.opensAt}`
  })
}

it('ROOM-122 a time that does not exist moves on by the gap, one that is there twice is the earlier', () => {
  const pattern = { weekdays: EVERY_DAY, openTime: '02:30', timezone: 'Europe/Berlin' }
  expect(slotsAfter(pattern, '2026-03-28T00:00:00Z', 3)).toEqual([
    '2026-03-28 2026-03-28T01:30:00Z',
    '2026-03-29 2026-03-29T01:30:00Z', // 03:30 of summer
    '2026-03-30 2026-03-30T00:30:00Z',
  ])
  expect(slotsAfter(pattern, '2026-10-24T12:00:00Z', 2)).toEqual([
    '2026-10-25 2026-10-25T00:30:00Z', // the first of two
    '2026-10-26 2026-10-26T01:30:00Z',
  ])
})

it('ROOM-122, ROOM-124 where clocks skip the last hour of a day, the day keeps its slot and the next one its own', () => {
  const pattern = { weekdays: EVERY_DAY, openTime: '23:30', timezone: 'America/Scoresbysund' }
  expect(slotsAfter(pattern, '2026-03-27T12:00:00Z', 4)).toEqual([
    '2026-03-27 2026-03-28T01:30:00Z',
    '2026-03-28 2026-03-29T01:30:00Z', // half past midnight of the 29th
    '2026-03-29 2026-03-30T00:30:00Z',
    '2026-03-30 2026-03-31T00:30:00Z',
  ])
  // Saved within that half hour, the day before still has its slot ahead.
  expect(slotAfter(pattern, Temporal.Instant.from('2026-03-29T01:10:00Z')).date).toBe('2026-03-28')
})

it('ROOM-122 on chosen days of the week, the last one comes again after a week', () => {
  const pattern = { weekdays: [1], openTime: '00:00', timezone: 'Pacific/Auckland' }
  expect(slotsAfter(pattern, '2026-06-07T12:00:00Z', 2)).toEqual([
    '2026-06-15 2026-06-14T12:00:00Z',
    '2026-06-22 2026-06-21T12:00:00Z',
  ])
})
