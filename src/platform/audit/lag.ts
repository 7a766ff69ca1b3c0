/** Of each reader of a feed in this process: since when a row that it cannot see yet is there. */
const waiting = new Map<object, number>()

export function noteHidden(reader: object, since: Date | null): void {
  if (since) waiting.set(reader, since.getTime())
  else waiting.delete(reader)
}

/** Seconds by which the feeds of this process are behind: the age of the oldest row still hidden, 0 when none is (PLAT-19). */
export function auditFeedLag(now = Date.now()): number {
  let oldest = now
  for (const since of waiting.values()) oldest = Math.min(oldest, since)
  return (now - oldest) / 1_000
}
