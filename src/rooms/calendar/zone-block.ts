import { tzlib_get_ical_block } from 'timezones-ical-library'

export type ZoneBlock = {
  /** What the block calls the zone, which events must call it too: of two names of one zone the other one. */
  tzid: string
  /** A VTIMEZONE with the zone's rules (ROOM-143). */
  block: string
}

const known = new Map<string, ZoneBlock | null>()

/** What a calendar is told of a zone; null when the library does not know it. Zones change with releases alone. */
export function zoneBlock(timezone: string): ZoneBlock | null {
  const remembered = known.get(timezone)
  if (remembered !== undefined) return remembered
  const found = read(timezone)
  known.set(timezone, found)
  return found
}

function read(timezone: string): ZoneBlock | null {
  const [block] = [tzlib_get_ical_block(timezone)].flat()
  const [, tzid] = /^TZID:([^\r\n]+)/m.exec(block ?? '') ?? []
  return block && tzid ? { tzid, block } : null
}
