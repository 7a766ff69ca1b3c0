import { roomsSettings } from '../settings.ts'

export const CALENDAR_PATH = '/calendar/'
const ENDING = '.ics'

/** Where a calendar fetches somebody's standups. */
export const feedUrl = (token: string): string =>
  new URL(`${CALENDAR_PATH}${token}${ENDING}`, roomsSettings().publicUrl).href

/** The token in the path of a request; what has another form is none. */
export const tokenIn = (path: string): string =>
  path.endsWith(ENDING) ? path.slice(CALENDAR_PATH.length, -ENDING.length) : ''

/** What makes our ids unique among those of other servers. */
export const publicHost = (): string => new URL(roomsSettings().publicUrl).host
