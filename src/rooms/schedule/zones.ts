import { tzlib_get_timezones } from 'timezones-ical-library'
import { zoneBlock } from '../calendar/zone-block.ts'

let accepted: ReadonlyMap<string, string> | undefined

/** By lower case, how a zone is spelled. */
function zones(): ReadonlyMap<string, string> {
  accepted ??= new Map(
    [tzlib_get_timezones()]
      .flat()
      .filter((name) => runtimeKnows(name) && zoneBlock(name) !== null)
      .toSorted()
      .map((name) => [name.toLowerCase(), name]),
  )
  return accepted
}

function runtimeKnows(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The zones that a schedule can have: those that this server can reckon with and tell a calendar about (ROOM-121). */
export const timeZones = (): string[] => [...zones().values()]

/** The name as it is spelled, however it was written; null for anything that is no such zone, such as `+02:00`. */
export const canonicalZone = (name: string): string | null => zones().get(name.toLowerCase()) ?? null
