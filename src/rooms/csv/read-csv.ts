import { CsvError, parse } from 'csv-parse/sync'
import { invalidInput } from '../../graphql/errors.ts'

/** Rows are counted as a spreadsheet counts them: the first line of a file is row 1, a cell with line breaks is one row. */
export type CsvRow = { row: number; cells: readonly string[] }
export type CsvFile = { header: CsvRow; rows: readonly CsvRow[] }

const BYTES_MAX = 256 * 1_024
const DELIMITERS = [',', ';', '\t'] as const
type Delimiter = (typeof DELIMITERS)[number]

const FORMAT = {
  bom: true,
  // Mixed line ends are read as they are meant; how many cells a row should have is for its reader to say.
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
}

/**
 * Reads a file of up to 256 KiB whose first row that is not blank is its header. It is separated by whichever of comma,
 * semicolon and tab gives the header most of the `columns`. Blank rows are left out, and counted.
 */
export function readCsv(path: string, csv: string, columns: readonly string[]): CsvFile {
  if (Buffer.byteLength(csv) > BYTES_MAX) throw invalidInput(path, `must have at most ${BYTES_MAX / 1_024} KiB`)
  const [header, ...rows] = records(path, csv, delimiterOf(csv, columns))
    .map((cells, at) => ({ row: at + 1, cells }))
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ''))
  if (!header) throw invalidInput(path, 'must have a header')
  return { header, rows }
}

/** A header's name for a column, however it is written. */
export const columnName = (cell: string): string => cell.trim().toLowerCase()

function delimiterOf(csv: string, columns: readonly string[]): Delimiter {
  const known = DELIMITERS.map(
    (delimiter) => firstRecord(csv, delimiter).filter((cell) => columns.includes(cell)).length,
  )
  return DELIMITERS[known.indexOf(Math.max(...known))]!
}

function firstRecord(csv: string, delimiter: Delimiter): string[] {
  try {
    const [cells = []] = parse(csv, { ...FORMAT, delimiter, to: 1, skip_records_with_empty_values: true })
    return cells.map(columnName)
  } catch {
    return [] // what is wrong with it is told when the whole is read
  }
}

function records(path: string, csv: string, delimiter: Delimiter): string[][] {
  try {
    return parse(csv, { ...FORMAT, delimiter })
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const { records: row = 0, column = 0 } = error as CsvError & { records?: number; column?: number }
    throw invalidInput(`${path}.${row + 1}.${column + 1}`, 'has a quote that does not open or close a whole cell')
  }
}
