import { outcomeType } from '../../graphql/error-types.ts'

/** Nobody has bound the hand-off yet: an answer, and no error (PLAT-63). */
export class EmbedPending extends Error {
  override readonly name = 'EmbedPending'
  readonly expiresAt: string
  constructor(expiresAt: string) {
    super('Nobody has bound the hand-off yet.')
    this.expiresAt = expiresAt
  }
}

outcomeType(EmbedPending, {
  description: 'Nobody has bound the hand-off yet; ask again in a moment.',
  fields: (t) => ({
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it is over.' }),
  }),
})
