import { randomBytes } from 'node:crypto'
import { InvalidInputError } from '../graphql/errors.ts'

/** Offers a password for somebody new; who is there already keeps their own, and then none is returned. */
export async function withNewPassword<R>(
  create: (password: string | undefined) => Promise<R>,
): Promise<{ result: R; password: string | undefined }> {
  const password = randomBytes(15).toString('base64url')
  try {
    return { result: await create(password), password }
  } catch (error) {
    const isKnown = error instanceof InvalidInputError && error.issues.some(({ path }) => path.at(-1) === 'password')
    if (!isKnown) throw error
    return { result: await create(undefined), password: undefined }
  }
}
