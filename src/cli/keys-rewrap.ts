import { readConfig } from '../config.ts'
import { bringUpToDate, openDatabase } from '../db/database.ts'
import { withClient } from '../db/with-client.ts'
import { createLog } from '../log.ts'
import { createKeyring, rewrapSealedColumns } from '../platform/index.ts'
import { readSecrets } from '../secrets.ts'
import { type Command, RefusedError } from './command.ts'

/** Seals every secret anew under the current key, after which older ones may be dropped (PLAT-72). */
export const command: Command = {
  options: {},
  async run(_values, terminal) {
    const config = readConfig()
    const keyring = createKeyring({ ...(await readSecrets(config)), kmsKeyId: config.MOOTHALL_KMS_KEY_ID })
    await import('../schema.ts') // the bodies say which columns they seal
    const database = await openDatabase(config, createLog(config, process.stderr), { existing: true })
    try {
      await bringUpToDate(database, config)
      if (!database.ownerUrl) throw new RefusedError('It works as the owner of the tables: set DATABASE_MIGRATE_URL.')
      const owner = { connectionString: database.ownerUrl, application_name: 'moothall keys rewrap' }
      const { rewrapped, shut } = await withClient(owner, (client) => rewrapSealedColumns(client, keyring))
      const left = shut.map(
        ({ table, column, orgId, rowId, fault }) => `  ${table}.${column} ${orgId} ${rowId}: ${fault}`,
      )
      const words = [`Sealed ${rewrapped} values anew under the key ${keyring.current.id}.`]
      if (shut.length > 0) words.push(`${shut.length} do not open and stay as they are:`, ...left)
      terminal.print(words.join('\n'), { keyId: keyring.current.id, rewrapped, shut })
      if (shut.length > 0) throw new RefusedError('Some values do not open.')
    } finally {
      await database.close()
    }
  },
}
