import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'
import { withClient } from './with-client.ts'

export const OWNER_ROLE = 'moothall_owner'
export const APP_ROLE = 'moothall_app'

export type RolePasswords = { ownerPassword: string; appPassword: string }

/**
 * The SQL that makes the two roles, or sets right what an earlier hand left wrong. It runs as a superuser, or as an
 * administrator with CREATEROLE. Passwords stand in it only as SCRAM verifiers, so it can be shown and logged.
 */
export function rolesSql({ ownerPassword, appPassword }: RolePasswords): string {
  return `${roleSql(OWNER_ROLE, ownerPassword)}
${roleSql(APP_ROLE, appPassword)}
-- Who hands a database to its owner must be able to become it; a superuser can, but who merely made the role cannot.
DO $$ BEGIN
  IF NOT pg_has_role(current_user, '${OWNER_ROLE}', 'SET') THEN
    EXECUTE format('GRANT ${OWNER_ROLE} TO %I', current_user);
  END IF;
END $$;
`
}

/** The SQL that makes the database it runs in ours: owned by the owner, open to the application, shut to everybody else. */
export function databaseSql(database: string): string {
  const name = pg.escapeIdentifier(database)
  return `ALTER DATABASE ${name} OWNER TO ${OWNER_ROLE};
REVOKE ALL ON DATABASE ${name} FROM PUBLIC;
GRANT CONNECT ON DATABASE ${name} TO ${APP_ROLE};
REVOKE ALL ON SCHEMA public FROM PUBLIC;
`
}

export async function ensureRoles(client: pg.ClientBase, passwords: RolePasswords): Promise<void> {
  await client.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('moothall roles', 0))`)
  try {
    await client.query(rolesSql(passwords))
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  }
}

/** Makes the database unless it is there, and its rights in any case. Several processes may ask at once. */
export async function ensureDatabase(superuserUrl: (database: string) => string, database: string): Promise<void> {
  await withClient({ connectionString: superuserUrl('postgres') }, async (client) => {
    // Held by the session, because CREATE DATABASE runs in no transaction.
    await client.query(`SELECT pg_advisory_lock(hashtextextended('moothall database', 0))`)
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [database])
    if (!rowCount) {
      await client.query(
        `CREATE DATABASE ${pg.escapeIdentifier(database)} OWNER ${OWNER_ROLE}
           TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'`,
      )
    }
    await withClient({ connectionString: superuserUrl(database) }, (inside) => inside.query(databaseSql(database)))
  })
}

/** ALTER names an attribute only where it is wrong: naming SUPERUSER at all is a superuser's privilege. */
function roleSql(role: string, password: string): string {
  const verifier = scramVerifier(password)
  return `DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}') THEN
    CREATE ROLE ${role} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD '${verifier}';
  ELSE
    ALTER ROLE ${role} LOGIN PASSWORD '${verifier}';
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}'
                  AND (rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole OR rolreplication)) THEN
      ALTER ROLE ${role} NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
    END IF;
  END IF;
END $$;`
}

/** What PostgreSQL itself would store for the password (RFC 5803). */
function scramVerifier(password: string): string {
  const [salt, iterations] = [randomBytes(16), 4096]
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, iterations, 32, 'sha256')
  const storedKey = createHash('sha256')
    .update(createHmac('sha256', salted).update('Client Key').digest())
    .digest('base64')
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}
