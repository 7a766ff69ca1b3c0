import { decodeId } from '../../graphql/ids.ts'
import { findPerson } from '../session/preauth.ts'

/** The person whom an operator names, by email or by id; null when the email is nobody's. */
export async function findUserId(named: string): Promise<string | null> {
  if (named.includes('@')) return (await findPerson(named.toLowerCase()))?.user_id ?? null
  const id = decodeId(named)
  return id?.typename === 'User' ? id.id : null
}
