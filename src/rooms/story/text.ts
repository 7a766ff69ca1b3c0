import { arg } from '../../graphql/arguments.ts'
import { invalidInput } from '../../graphql/errors.ts'

/** As in the table's checks. */
export const STORY_LENGTHS = { title: 200, notes: 2_000, ref: 40 } as const

export const storyText = {
  title: arg.text({ min: 0, max: STORY_LENGTHS.title }).optional(),
  notes: arg.text({ min: 0, max: STORY_LENGTHS.notes }).optional(),
  ref: arg
    .text({ min: 0, max: STORY_LENGTHS.ref })
    .optional()
    .describe('What it is called elsewhere, such as a ticket’s key.'),
}

export type StoryText = { title: string; notes: string; ref: string }

/** A story has a title or a ref. Takes cleaned text. */
export function requireName({ title, ref }: StoryText): void {
  if (title === '' && ref === '') throw invalidInput('title', 'a story needs a title or a ref')
}
