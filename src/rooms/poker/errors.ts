import { registerSqlState } from '../../graphql/database-errors.ts'
import { errorType } from '../../graphql/error-types.ts'
import { DomainError } from '../../graphql/errors.ts'
import type { LockedRoom } from '../room/lock-room.ts'

/** The round that a vote or reveal was meant for is not the open one on the table. Tells which is, as far as known. */
export class RoundClosedError extends DomainError {
  override readonly name = 'RoundClosedError'
  readonly code = 'ROUND_CLOSED'
  readonly roundVersion: bigint | null
  readonly revealed: boolean | null
  constructor(room?: Pick<LockedRoom, 'roundVersion' | 'revealed'>) {
    super('That round is closed.')
    this.roundVersion = room?.roundVersion ?? null
    this.revealed = room?.revealed ?? null
  }
}

errorType(RoundClosedError, {
  description: 'The round was revealed, reset or has left the table; nothing was changed.',
  fields: (t) => ({
    roundVersion: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'The round that is on the table now.',
      resolve: ({ roundVersion }) => roundVersion,
    }),
    revealed: t.boolean({
      nullable: true,
      description: 'Whether that one is revealed.',
      resolve: ({ revealed }) => revealed,
    }),
  }),
})

// The database refuses a vote in a closed round whoever asks (votes_open_round); the use-cases have asked before.
registerSqlState('MH020', () => new RoundClosedError())
