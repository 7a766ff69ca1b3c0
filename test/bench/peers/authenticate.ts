import { createHash } from 'node:crypto'
import { readOne, type Scope } from './transaction.ts'

const TEXT = `
  SELECT s.org_id, s.user_id, s.user_status, s.org_status, s.revoked_at IS NOT NULL AS revoked,
    life.ends_at <= clock_timestamp() AS ended
  FROM identity.preauth_session($1) AS s,
    LATERAL identity.session_end(s.created_at, s.last_seen_at, s.expires_at, 1209600000, 2592000000) AS life (ends_at)`

type Session = {
  org_id: string
  user_id: string
  user_status: string
  org_status: string
  revoked: boolean
  ended: boolean
}

/** The look-up that the product makes for each request, by hand. */
export async function authenticate(authorization: string): Promise<Required<Scope>> {
  const hash = createHash('sha256').update(authorization.slice('Bearer '.length)).digest()
  const statement = { name: 'authenticate', text: TEXT, values: [hash] }
  const session = await readOne<Session>('READ COMMITTED READ WRITE', {}, statement)
  if (!session || session.revoked || session.ended) throw new Error('not signed in')
  if (session.user_status !== 'active' || session.org_status !== 'active') throw new Error('may not')
  return { org: session.org_id, user: session.user_id }
}
