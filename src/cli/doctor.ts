import { readConfig } from '../config.ts'
import { MIGRATIONS, openDatabase } from '../db/database.ts'
import { doctor } from '../db/doctor.ts'
import { createLog } from '../log.ts'
import { type Command, RefusedError } from './command.ts'

/** Says what is wrong with the database as the server would use it, and changes nothing (PLAT-2). */
export const command: Command = {
  options: {},
  async run(_values, terminal) {
    const config = readConfig()
    const database = await openDatabase(config, createLog(config, process.stderr), { existing: true })
    try {
      const findings = await doctor({ url: database.appUrl, folder: MIGRATIONS })
      const width = Math.max(...findings.map(({ check }) => check.length))
      const lines = findings.map(
        ({ check, ok, detail }) => `${ok ? 'ok   ' : 'WRONG'}  ${check.padEnd(width)}  ${detail}`,
      )
      terminal.print(lines.join('\n'), { findings })
      const wrong = findings.filter(({ ok }) => !ok).length
      if (wrong > 0) throw new RefusedError(`${wrong} of ${findings.length} checks found something wrong.`)
    } finally {
      await database.close()
    }
  },
}
