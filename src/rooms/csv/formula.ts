// A spreadsheet takes a cell that begins with one of these for a formula, so exports put a quote before it and imports
// take the quote away again (ROOM-61, 62). Full-width ones are formulas to some spreadsheets, too.
const ESCAPED = /^'(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/

/** What a cell said before an export made it harmless. */
export const withoutEscape = (cell: string): string => cell.replace(ESCAPED, '')
