import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { Caller } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { invalidInput } from '../../graphql/errors.ts'
import { requireAddressLimit } from '../session/require-address-limit.ts'
import { emailFault, emailOf } from '../user/email.ts'

type Entry = { email: string; note?: string | undefined }

/** Puts an email on the waitlist. Whether it stood there already is not told, and what it said then stays. */
export async function joinWaitlist(_caller: Caller | null, entry: Entry, { client }: Context): Promise<object> {
  const email = emailOf(entry.email)
  const fault = emailFault(email)
  if (fault) throw invalidInput('email', fault)
  await requireAddressLimit('waitlistJoin', client.address)

  // No RETURNING and no conflict target: the app may read no row of it (PLAT-10).
  await operation(
    'preauth',
    {},
    () => sql`
      INSERT INTO identity.waitlist (email, note) VALUES (${email}, ${entry.note ?? null}) ON CONFLICT DO NOTHING`,
  )
  return {}
}
