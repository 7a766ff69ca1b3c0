import { findUserId } from '../identity/index.ts'
import { RefusedError, required, type Values } from './command.ts'

/** The person behind the word after the command. */
export async function namedUser(values: Values): Promise<string> {
  const userId = await findUserId(required(values, 'user', 'The id or email of a person'))
  if (userId === null) throw unknownUser()
  return userId
}

export const unknownUser = () => new RefusedError('There is no such person.', 'NOT_FOUND')
