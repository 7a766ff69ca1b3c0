import { randomBytes } from 'node:crypto'
import { fromDatabase } from '../graphql/database-errors.ts'
import { ConflictError } from '../graphql/errors.ts'
import { createOrgAsOperator } from '../identity/index.ts'
import type { RunningServer } from '../server.ts'

export type FirstOwner = { org: string; email: string; password: string }

const FIRST = { slug: 'main', name: 'Main', allowAnonymous: true }
const EMAIL = 'owner@moothall.localhost'

/** An embedded database that nobody has used yet gets an org and somebody to sign in as (PLAT-80). */
export async function makeFirstOrg({ database }: RunningServer): Promise<FirstOwner | null> {
  if ((await database.hasOrgs()) !== false) return null
  const password = randomBytes(15).toString('base64url')
  try {
    await createOrgAsOperator({ ...FIRST, owner: { email: EMAIL, displayName: 'Owner', password } })
  } catch (error) {
    // Another process that started beside this one was faster.
    if ((fromDatabase(error) ?? error) instanceof ConflictError) return null
    throw error
  }
  return { org: FIRST.slug, email: EMAIL, password }
}
