import { readConfig } from '../config.ts'
import { MIGRATIONS, openDatabase } from '../db/database.ts'
import { migrate, migrationStatus } from '../db/migrate.ts'
import { APP_ROLE, databaseSql, OWNER_ROLE, rolesSql } from '../db/roles.ts'
import { createLog } from '../log.ts'
import { type Command, RefusedError, type Terminal, UsageError } from './command.ts'

/** Applies what is pending; `--status` only tells (PLAT-56), `--roles` prints the SQL that makes the two roles (PLAT-57). */
export const command: Command = {
  options: { status: { type: 'boolean' }, roles: { type: 'boolean' } },
  async run({ status, roles }, terminal) {
    if (status && roles) throw new UsageError('Either --status or --roles.')
    const config = readConfig()
    if (roles && config.DATABASE_URL !== '')
      return printRoles(config.DATABASE_URL, config.DATABASE_MIGRATE_URL, terminal)

    const database = await openDatabase(config, createLog(config, process.stderr), { existing: status === true })
    try {
      if (roles) return terminal.print('The embedded server has its roles.', { roles: [OWNER_ROLE, APP_ROLE] })
      if (status) {
        const found = await migrationStatus({ url: database.ownerUrl ?? database.appUrl, folder: MIGRATIONS })
        return terminal.print(found.pending.length ? list('Pending', found.pending) : 'Nothing is pending.', found)
      }
      if (!database.ownerUrl) throw new RefusedError('DATABASE_MIGRATE_URL must be set to migrate.')
      const { applied } = await migrate({ url: database.ownerUrl, folder: MIGRATIONS })
      terminal.print(applied.length ? list('Applied', applied) : 'Nothing was pending.', { applied })
    } finally {
      await database.close()
    }
  },
}

/** Passwords are those of the two addresses; they stand in the SQL as verifiers only, so it may be shown and kept. */
function printRoles(appUrl: string, ownerUrl: string, terminal: Terminal): void {
  if (ownerUrl === '') throw new RefusedError('DATABASE_MIGRATE_URL must be set too: it has the password of the owner.')
  const [app, owner] = [new URL(appUrl), new URL(ownerUrl)]
  const passwords = { appPassword: passwordOf(app, APP_ROLE), ownerPassword: passwordOf(owner, OWNER_ROLE) }
  const name = decodeURIComponent(app.pathname.slice(1))
  const sql = `${rolesSql(passwords)}\n${databaseSql(name)}`
  terminal.note(`Run this in database ${name} as a role that may create roles, for example with psql.`)
  terminal.print(sql, { sql })
}

function passwordOf({ username, password }: URL, role: string): string {
  if (decodeURIComponent(username) !== role)
    throw new RefusedError(`One address must sign in as ${APP_ROLE}, the other as ${OWNER_ROLE}.`)
  if (password === '') throw new RefusedError(`The address of ${role} has no password.`)
  return decodeURIComponent(password)
}

const list = (title: string, names: readonly string[]) => [`${title}:`, ...names.map((name) => `  ${name}`)].join('\n')
