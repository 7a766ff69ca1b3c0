/** Whether it names a zone of the IANA database, such as `Europe/Berlin`; offsets such as `+01:00` are none. */
export function isTimeZone(name: string): boolean {
  if (name.length > 64 || !/^[A-Za-z]/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
