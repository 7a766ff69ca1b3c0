import { type Command, RefusedError, required } from './command.ts'
import { withWaitlist } from './waitlist.ts'

/** Takes an email off the waitlist, whether they were let in or not. */
export const command: Command = {
  options: {},
  argument: 'email',
  async run(values, terminal) {
    const email = required(values, 'email', 'The email')
    const { rowCount } = await withWaitlist((client) =>
      client.query('DELETE FROM identity.waitlist WHERE email = lower($1)', [email.trim().normalize('NFC')]),
    )
    if (!rowCount) throw new RefusedError('That email is not on the waitlist.', 'NOT_FOUND')
    terminal.print('Removed.', { removed: true })
  },
}
