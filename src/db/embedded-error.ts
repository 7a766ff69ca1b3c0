export type EmbeddedFault =
  | 'no_binaries'
  | 'no_account'
  | 'no_database'
  | 'unreachable_directory'
  | 'foreign_directory'
  | 'other_version'
  | 'passwords_lost'
  | 'port_taken'
  | 'initdb_failed'
  | 'start_failed'

const MESSAGES: Record<EmbeddedFault, string> = {
  no_binaries: 'There is no embedded PostgreSQL for this system: set DATABASE_URL to a PostgreSQL server.',
  no_account: 'Started as root, but this system has no unprivileged account the database could run under.',
  no_database: 'There is no database in the data directory yet: start the server first.',
  unreachable_directory: 'The account the database runs under cannot enter the data directory: choose another one.',
  foreign_directory: 'The data directory belongs to another user.',
  other_version: 'The data directory was made by another major version of PostgreSQL.',
  passwords_lost: 'The data directory holds a database, but not the passwords that open it.',
  port_taken: 'The port asked for the database is taken.',
  initdb_failed: 'The database could not be created; the log says why.',
  start_failed: 'The database did not start; the log says why.',
}

/** Says what failed without a path or a secret: callers may print it. */
export class EmbeddedError extends Error {
  override readonly name = 'EmbeddedError'
  readonly fault: EmbeddedFault

  constructor(fault: EmbeddedFault, options?: ErrorOptions) {
    super(MESSAGES[fault], options)
    this.fault = fault
  }
}
