import { type Command, required } from './command.ts'
import { exportSnapshot, shown } from './export-snapshot.ts'
import { withDatabase } from './with-database.ts'

const LOG = 'platform.audit_events'

/** Writes an org's log of facts to a folder; of a purged org, what outlived it (PLAT-81). */
export const command: Command = {
  options: { org: { type: 'string' }, out: { type: 'string' } },
  async run(values, terminal) {
    const [org, folder] = [required(values, 'org'), required(values, 'out')]
    const manifest = await withDatabase((database) =>
      exportSnapshot(database, { org, folder, what: 'audit', tables: (all) => all.filter(({ name }) => name === LOG) }),
    )
    terminal.print(`Exported ${manifest.files[0]?.rows ?? 0} events of ${manifest.org.slug}.`, shown(manifest))
  },
}
