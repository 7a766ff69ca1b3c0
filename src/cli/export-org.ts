import { type Command, required } from './command.ts'
import { exportSnapshot, shown } from './export-snapshot.ts'
import { withDatabase } from './with-database.ts'

/** Writes everything an org has, but secrets and what is personal, to a folder (PLAT-81). */
export const command: Command = {
  options: { org: { type: 'string' }, out: { type: 'string' } },
  async run(values, terminal) {
    const [org, folder] = [required(values, 'org'), required(values, 'out')]
    const manifest = await withDatabase((database) =>
      exportSnapshot(database, { org, folder, what: 'org', tables: (all) => all }),
    )
    const rows = manifest.files.reduce((sum, file) => sum + file.rows, 0)
    terminal.print(`Exported ${rows} rows of ${manifest.org.slug} in ${manifest.files.length} files.`, shown(manifest))
  },
}
