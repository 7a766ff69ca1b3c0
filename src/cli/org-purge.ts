import { encodeId } from '../graphql/ids.ts'
import { carryOutPurge, requestOrgPurge } from '../identity/index.ts'
import { type Command, RefusedError, required, UsageError } from './command.ts'
import { withDatabase } from './with-database.ts'

/** Ends an archived org for good and waits until it is gone (ID-63). Interrupted, it goes on where it was. */
export const command: Command = {
  options: { slug: { type: 'string' }, confirm: { type: 'string' } },
  async run(values, terminal) {
    const slug = required(values, 'slug')
    if (required(values, 'confirm') !== slug) throw new UsageError('--confirm is not the slug of --slug.')
    const orgId = await withDatabase(async () => {
      // The bodies say what goes with an org.
      await import('../schema.ts')
      const id = await requestOrgPurge(slug)
      if (id === null) throw new RefusedError('There is no such org.', 'NOT_FOUND')
      await carryOutPurge(id) // a server that runs beside may be at it too; whoever ends it, it is gone
      return id
    })
    terminal.print(`Purged ${slug}.`, { org: { id: encodeId('Org', orgId), slug } })
  },
}
