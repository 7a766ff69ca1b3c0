import { arg } from '../../graphql/arguments.ts'
import { invalidInput } from '../../graphql/errors.ts'

/** Lengths as in the table's checks. */
export const storyText = {
  title: arg.text({ min: 0, max: 200 }).optional(),
  notes: arg.text({ min: 0, max: 2_000 }).optional(),
  ref: arg.text({ min: 0, max: 40 }).optional().describe('What it is called elsewhere, such as a ticket’s key.'),
}

export type StoryText = { title: string; notes: string; ref: string }

/** A story has a title or a ref. Takes cleaned text. */
export function requireName({ title, ref }: StoryText): void {
  if (title === '' && ref === '') throw invalidInput('title', 'a story needs a title or a ref')
}
