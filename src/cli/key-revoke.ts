import { encodeId } from '../graphql/ids.ts'
import { revokeKeyAsOperator } from '../identity/index.ts'
import { type Command, required } from './command.ts'
import { withDatabase } from './with-database.ts'

/** Ends a key at once, in every server too (ID-54). Its prefix is what stands behind `mh_live_` or `mh_test_`. */
export const command: Command = {
  options: { org: { type: 'string' }, prefix: { type: 'string' } },
  async run(values, terminal) {
    const [orgSlug, prefix] = [required(values, 'org'), required(values, 'prefix')]
    const { keyId } = await withDatabase(() => revokeKeyAsOperator({ orgSlug, prefix }))
    const id = encodeId('ApiKey', keyId)
    terminal.print(`Revoked   ${prefix} (${id})`, { apiKey: { id, prefix } })
  },
}
