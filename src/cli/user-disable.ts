import { encodeId } from '../graphql/ids.ts'
import { setUserDisabled } from '../identity/index.ts'
import type { Command } from './command.ts'
import { namedUser } from './named-user.ts'
import { withDatabase } from './with-database.ts'

/** Lets somebody in nowhere any more; what they wrote and where they belong stays. */
export const command: Command = {
  options: {},
  argument: 'user',
  async run(values, terminal) {
    const { userId, changed } = await withDatabase(async () => {
      const userId = await namedUser(values)
      return { userId, changed: await setUserDisabled(userId, true) }
    })
    const id = encodeId('User', userId)
    terminal.print(changed ? `${id} is shut out.` : `Nothing to change about ${id}.`, { user: { id }, changed })
  },
}
