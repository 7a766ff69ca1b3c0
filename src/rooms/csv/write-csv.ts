import { stringify } from 'csv-stringify/sync'

type Cell = string | number | null

/** A table as text. What a spreadsheet would take for a formula gets a quote before it (ROOM-62). */
export function writeCsv(columns: readonly string[], rows: readonly (readonly Cell[])[]): string {
  // Tabs and semicolons separate cells in some places, so a cell that holds one is quoted too.
  return stringify([columns, ...rows] as Cell[][], { escape_formulas: true, quoted_match: /[\t;]/ })
}

export const yesOrNo = (fact: boolean): string => (fact ? 'true' : 'false')
