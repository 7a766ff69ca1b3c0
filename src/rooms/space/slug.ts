import { sql } from '../../db/sql.ts'
import { ConflictError, invalidInput } from '../../graphql/errors.ts'

const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/

export function requireSlug(slug: string): void {
  if (!SLUG.test(slug)) throw invalidInput('slug', 'must be lower-case letters and digits, with single hyphens between')
}

/** Says it in words; of two who take a slug at once the database refuses the second (ROOM-10). */
export async function requireFreeSlug(orgId: string, slug: string): Promise<void> {
  const taken = await sql`SELECT FROM rooms.spaces WHERE org_id = ${orgId} AND slug = ${slug}`
  if (taken.length > 0) throw new ConflictError('The slug is taken.')
}
