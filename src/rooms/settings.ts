import type { RateLimiter } from '../platform/index.ts'

export type RoomsSettings = {
  limiter: RateLimiter
  /** Where calendars and browsers reach the server. */
  publicUrl: string
}

let current: RoomsSettings | undefined

/** Called once at start: use-cases take a caller and an input, so what counts their tries reaches them from here. */
export function configureRooms(settings: RoomsSettings): void {
  current = settings
}

export function roomsSettings(): RoomsSettings {
  if (!current) throw new Error('rooms is not configured')
  return current
}
