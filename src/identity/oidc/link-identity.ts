import { operation } from '../../db/operation.ts'
import { sql } from '../../db/sql.ts'
import type { SessionCaller } from '../../graphql/caller.ts'
import { scopeOf } from '../../graphql/context.ts'
import { record } from '../../platform/index.ts'
import { oidcLinked } from './events.ts'
import { OidcFault } from './fault.ts'
import { type Identity, isTaken } from './identity.ts'

/** Lets an identity sign the caller in from now on (ID-28). One a person; again, it does nothing. */
export async function linkIdentity(
  caller: SessionCaller,
  { issuer, subject }: Identity,
  requestId: string,
): Promise<void> {
  const linked = operation('write', scopeOf(caller, requestId), async () => {
    const [mine] = await sql<Identity>`
      SELECT issuer, subject FROM identity.users WHERE id = ${caller.userId} AND status = 'active' FOR NO KEY UPDATE`
    if (!mine) throw new OidcFault('SIGN_IN_AGAIN') // erased or disabled meanwhile
    if (mine.issuer === issuer && mine.subject === subject) return
    if (mine.issuer !== '') throw new OidcFault('ALREADY_LINKED')
    await sql`UPDATE identity.users SET issuer = ${issuer}, subject = ${subject} WHERE id = ${caller.userId}`
    await record(caller, oidcLinked, { target: { kind: 'User', id: caller.userId }, payload: {} })
  })
  await linked.catch((error: unknown) => {
    throw isTaken(error) ? new OidcFault('IDENTITY_TAKEN') : error
  })
}
