import type pg from 'pg'
import { withClient } from '../db/with-client.ts'
import { RefusedError } from './command.ts'
import { withDatabase } from './with-database.ts'

/** Works on the waitlist as the owner of the tables: the server itself reads none of it. */
export function withWaitlist<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withDatabase(({ ownerUrl }) => {
    if (ownerUrl === null)
      throw new RefusedError('DATABASE_MIGRATE_URL must be set: only the owner reads the waitlist.')
    return withClient({ connectionString: ownerUrl, application_name: 'moothall waitlist' }, work)
  })
}
