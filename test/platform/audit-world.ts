import pg from 'pg'
import { closePool, openPool } from '../../src/db/pool.ts'
import type { SessionCaller } from '../../src/graphql/caller.ts'
import { newSessionToken } from '../../src/identity/session/token.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { TestDatabase } from '../support/database.ts'

export type Org = { id: string; slug: string; person: SessionCaller; scope: { orgId: string; userId: string } }

/** An org with one registered person in it. */
export async function makeOrg(
  owner: pg.Client,
  slug: string,
  standing: SessionCaller['standing'] = 'OWNER',
): Promise<Org> {
  const [orgId, userId] = [newId(), newId()]
  await owner.query('BEGIN')
  await owner.query('INSERT INTO identity.orgs (id, slug, name, api_version) VALUES ($1, $2, $2, $3)', [
    orgId,
    slug,
    '2026-01-01',
  ])
  await owner.query(
    `INSERT INTO identity.users (id, type, account, display_name, email, status)
     VALUES ($1, 'human', 'registered', $2, $2 || '@example.org', 'active')`,
    [userId, slug],
  )
  await owner.query(
    `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, 'owner', $3, now())`,
    [orgId, userId, slug],
  )
  await owner.query('COMMIT')
  const person: SessionCaller = {
    kind: 'session',
    orgId,
    userId,
    sessionId: newId(),
    account: 'registered',
    standing,
    embedded: false,
  }
  return { id: orgId, slug, person, scope: { orgId, userId } }
}

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

/** A bearer token of a session of that person. */
export async function signIn(owner: pg.Client, { orgId, userId }: { orgId: string; userId: string }): Promise<string> {
  const { token, hash } = newSessionToken()
  await owner.query(
    `INSERT INTO identity.sessions (id, org_id, user_id, token_hash, method) VALUES ($1, $2, $3, $4, 'password')`,
    [newId(), orgId, userId, hash],
  )
  return token
}

/** Opens the process's pool on the database; the result closes it. */
export function openPoolOn({ appUrl }: TestDatabase, size = 10): () => Promise<void> {
  openPool({ url: appUrl, size, wait: 10_000, statementTimeout: 15_000, prepared: true })
  return closePool
}
