import { randomBytes } from 'node:crypto'
import { fromDatabase } from '../graphql/database-errors.ts'
import { ConflictError } from '../graphql/errors.ts'
import { createOrgAsOperator, signInLink } from '../identity/index.ts'
import type { RunningServer } from '../server.ts'

/** `signInLink` signs in once, within 15 minutes; null where links sign nobody in. */
export type FirstOwner = { org: string; email: string; password: string; signInLink: string | null }

const FIRST = { slug: 'main', name: 'Main', allowAnonymous: true }
const EMAIL = 'owner@moothall.localhost'

/**
 * An embedded database that nobody has used yet gets an org and somebody to sign in as (PLAT-80), with a link to where
 * people sign in.
 */
export async function makeFirstOrg({ database }: RunningServer, address: string): Promise<FirstOwner | null> {
  if ((await database.hasOrgs()) !== false) return null
  const password = randomBytes(15).toString('base64url')
  try {
    const owner = { email: EMAIL, displayName: 'Owner', password }
    const { orgId, ownerId } = await createOrgAsOperator({ ...FIRST, owner })
    const link = await signInLink({ orgId, userId: ownerId, address })
    return { org: FIRST.slug, email: EMAIL, password, signInLink: link }
  } catch (error) {
    // Another process that started beside this one was faster.
    if ((fromDatabase(error) ?? error) instanceof ConflictError) return null
    throw error
  }
}
