import { InvalidInputError } from '../../graphql/errors.ts'
import { cleanText, codePointLength } from '../../lib/text.ts'
import { withoutEscape } from '../csv/formula.ts'
import { columnName, readCsv } from '../csv/read-csv.ts'
import type { Cards } from '../poker/cards.ts'
import { ESTIMATE_FAULT, isEstimate } from './estimate.ts'
import { STORY_LENGTHS, type StoryText } from './text.ts'

const COLUMNS = ['title', 'notes', 'ref', 'estimate'] as const
type Column = (typeof COLUMNS)[number]
const ESTIMATE_MAX = 16
const ISSUES_MAX = 20

export type ImportedStory = StoryText & { estimate: string | null }
/** At a column, at a cell that is in none (counted from 1), or at a row as a whole. */
type Fault = { row: number; column?: Column | number; message: string }
type Reading = { stories: (ImportedStory & { row: number })[]; faults: Fault[] }

/** The stories of a CSV file, as far as it can be told without a room. Throws where it is no such file. */
export function readStories(csv: string): Reading {
  const { header, rows } = readCsv('csv', csv, COLUMNS)
  const names = header.cells.map(columnName)
  const twice = COLUMNS.find((column) => names.indexOf(column) !== names.lastIndexOf(column))
  if (twice) throw refused([{ row: header.row, column: twice, message: 'stands in the header twice' }])
  if (!names.includes('title') && !names.includes('ref')) {
    throw refused([{ row: header.row, message: 'must be a header with a column title or ref' }])
  }

  const faults: Fault[] = []
  const stories = rows.map(({ row, cells }) => {
    const beyond = cells.findIndex((cell, at) => at >= names.length && cell.trim() !== '')
    if (beyond >= 0) faults.push({ row, column: beyond + 1, message: 'is beyond the columns of the header' })
    const cell = (column: Column) => withoutEscape(cleanText(cells[names.indexOf(column)] ?? ''))
    const story = {
      row,
      title: cell('title'),
      notes: cell('notes'),
      ref: cell('ref'),
      estimate: cell('estimate') || null,
    }
    faults.push(...faultsOf(story))
    return story
  })
  return { stories, faults }
}

function faultsOf(story: ImportedStory & { row: number }): Fault[] {
  const { row, title, ref } = story
  const long = (['title', 'notes', 'ref'] as const).filter(
    (column) => codePointLength(story[column]) > STORY_LENGTHS[column],
  )
  const nameless = title === '' && ref === ''
  return [
    ...(nameless ? [{ row, column: 'title' as const, message: 'a story needs a title or a ref' }] : []),
    ...long.map((column) => ({ row, column, message: `must have at most ${STORY_LENGTHS[column]} characters` })),
  ]
}

/** The same with the room's deck, which decides what an estimate is (ROOM-63). One fault refuses the whole (ROOM-61). */
export function requireSound({ stories, faults }: Reading, deck: Cards): readonly ImportedStory[] {
  const unestimated = stories
    .filter(({ estimate }) => estimate !== null && !isEstimateOf(deck, estimate))
    .map(({ row }) => ({ row, column: 'estimate' as const, message: ESTIMATE_FAULT }))
  const all = [...faults, ...unestimated]
  if (all.length > 0) throw refused(all)
  return stories
}

const isEstimateOf = (deck: Cards, text: string) => codePointLength(text) <= ESTIMATE_MAX && isEstimate(deck, text)

/** The first ones, in the order of the file. */
function refused(faults: readonly Fault[]): InvalidInputError {
  const inOrder = faults.toSorted((a, b) => a.row - b.row || placeOf(a) - placeOf(b))
  return new InvalidInputError(
    inOrder.slice(0, ISSUES_MAX).map(({ row, column, message }) => ({
      path: ['input', 'csv', String(row), ...(column ? [String(column)] : [])],
      message,
    })),
  )
}

const placeOf = ({ column = 0 }: Fault) =>
  typeof column === 'number' ? COLUMNS.length + column : COLUMNS.indexOf(column)
