import { sql } from '../../db/sql.ts'

const MAX_LENGTH = 39
/** Names that mean something else where people and agents are named (ID-42). */
const RESERVED = new Set(['org', 'system', 'console', 'admin', 'moothall', 'all', 'me'])

/**
 * A person's name or the local part of their email made legal, with a number behind it where it is taken (ID-40). Names
 * of one org are given one after the other: the lock is the one that the database's own guard takes.
 */
export async function freeUsername(orgId: string, wanted: string): Promise<string> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('identity.handles ' || ${orgId}::text, 0))`
  const name = legalName(wanted)
  const taken = await sql<{ username: string }>`
    SELECT username FROM identity.memberships
    WHERE org_id = ${orgId} AND (username = ${name} OR starts_with(username, ${`${name.slice(0, MAX_LENGTH - 7)}-`}))`
  const names = new Set(taken.map(({ username }) => username))
  const isFree = (candidate: string) => !names.has(candidate) && !RESERVED.has(candidate)
  if (isFree(name)) return name
  for (let number = 2; ; number++) {
    const candidate = `${name.slice(0, MAX_LENGTH - 7)}-${number}`
    if (isFree(candidate)) return candidate
  }
}

/** What is left of a name in the letters that usernames have. */
function legalName(name: string): string {
  const letters = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9._-]+/g, '-')
  const legal = letters.replace(/^[^a-z0-9]+/, '').slice(0, MAX_LENGTH)
  if (legal !== '' && !legal.startsWith('plugin-')) return legal
  return legal === '' ? 'member' : `member-${legal}`.slice(0, MAX_LENGTH)
}
