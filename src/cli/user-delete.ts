import { encodeId } from '../graphql/ids.ts'
import { type Blocker, blockersOf, deleteUser } from '../identity/index.ts'
import { type Command, RefusedError } from './command.ts'
import { namedUser, unknownUser } from './named-user.ts'
import { withDatabase } from './with-database.ts'

/** Deletes a person's row with all that is theirs alone, if nothing names them (ID-67, 68). */
export const command: Command = {
  options: {},
  argument: 'user',
  async run(values, terminal) {
    const id = await withDatabase(async () => {
      const userId = await namedUser(values)
      if (await deleteUser(userId)) return encodeId('User', userId)
      const blockers = await blockersOf(userId)
      throw blockers.length > 0 ? new RefusedError(listed(blockers), 'CONFLICT') : unknownUser()
    })
    terminal.print(`${id} is deleted.`, { user: { id } })
  },
}

const listed = (blockers: readonly Blocker[]) => ['Not deleted, since it is named:', ...blockers.map(lineOf)].join('\n')

const lineOf = ({ reason, table, column, rows }: Blocker) => `  ${reason}: ${rows} in ${table} (${column})`
