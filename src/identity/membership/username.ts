import { sql } from '../../db/sql.ts'
import { ConflictError, invalidInput } from '../../graphql/errors.ts'

const MAX_LENGTH = 39
const USERNAME = /^[a-z0-9][a-z0-9._-]{0,38}$/
/** Names that mean something else where people and agents are named (ID-42). */
const RESERVED = new Set(['org', 'system', 'console', 'admin', 'moothall', 'all', 'me'])

/** What plugins’ principals and the erased are called: whoever had such a name could keep somebody from being erased (ID-65). */
const RESERVED_PREFIX = /^(plugin|deleted)-/

/** Kept from usernames and from agents’ names alike. */
export const isReserved = (name: string): boolean => RESERVED.has(name) || RESERVED_PREFIX.test(name)

/** A wanted username in the one spelling that is stored: upper and lower case are the same (ID-40). */
export function usernameOf(text: string): string {
  const username = text.toLowerCase()
  if (!USERNAME.test(username)) {
    throw invalidInput(
      'username',
      'must be 1 to 39 of a-z, 0-9, dots, hyphens and underscores, the first a letter or digit',
    )
  }
  if (isReserved(username)) throw new ConflictError('The name is taken.')
  return username
}

/** Names of one org are given one after the other: the lock is the one that the database's own guard takes. */
export async function lockHandles(orgId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('identity.handles ' || ${orgId}::text, 0))`
}

/** A person's name or the local part of their email made legal, with a number behind it where it is taken (ID-40). */
export async function freeUsername(orgId: string, wanted: string): Promise<string> {
  await lockHandles(orgId)
  const name = legalName(wanted)
  const beginning = `${name.slice(0, MAX_LENGTH - 7)}-`
  const taken = await sql<{ handle: string }>`
    SELECT username AS handle FROM identity.memberships
    WHERE org_id = ${orgId} AND (username = ${name} OR starts_with(username, ${beginning}))
    UNION ALL
    SELECT name FROM identity.agents WHERE org_id = ${orgId} AND (name = ${name} OR starts_with(name, ${beginning}))`
  const names = new Set(taken.map(({ handle }) => handle))
  const isFree = (candidate: string) => !names.has(candidate) && !isReserved(candidate)
  if (isFree(name)) return name
  for (let number = 2; ; number++) {
    const candidate = `${beginning}${number}`
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
  if (legal !== '' && !RESERVED_PREFIX.test(legal)) return legal
  return legal === '' ? 'member' : `member-${legal}`.slice(0, MAX_LENGTH)
}
