import { encodeId } from '../graphql/ids.ts'
import { setUserDisabled } from '../identity/index.ts'
import type { Command } from './command.ts'
import { namedUser } from './named-user.ts'
import { withDatabase } from './with-database.ts'

/** The two commands that shut somebody out and let them in again; `outcome` is what is said of them then. */
export const settingUserDisabled = (disabled: boolean, outcome: string): Command => ({
  options: {},
  argument: 'user',
  async run(values, terminal) {
    const { userId, changed } = await withDatabase(async () => {
      const userId = await namedUser(values)
      return { userId, changed: await setUserDisabled(userId, disabled) }
    })
    const id = encodeId('User', userId)
    terminal.print(changed ? `${id} is ${outcome}.` : `Nothing to change about ${id}.`, { user: { id }, changed })
  },
})
