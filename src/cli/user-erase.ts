import { encodeId } from '../graphql/ids.ts'
import { eraseUser } from '../identity/index.ts'
import type { Command } from './command.ts'
import { namedUser } from './named-user.ts'
import { withDatabase } from './with-database.ts'

/** Takes everything from a person's row that says who they are (ID-65). It cannot be undone. */
export const command: Command = {
  options: {},
  argument: 'user',
  async run(values, terminal) {
    const { userId, changed } = await withDatabase(async () => {
      // The bodies remove what is the person's alone.
      await import('../schema.ts')
      const userId = await namedUser(values)
      return { userId, changed: await eraseUser(userId) }
    })
    const id = encodeId('User', userId)
    terminal.print(changed ? `${id} is erased.` : `There is nobody to erase behind ${id}.`, { user: { id }, changed })
  },
}
