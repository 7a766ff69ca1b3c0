import { requestError } from '../../graphql/request-errors.ts'
import { PasswordBusyError } from './password.ts'

/** The computation, or the word to come back when too many are computed already (ID-22). */
export async function unlessBusy<T>(computation: Promise<T>): Promise<T> {
  try {
    return await computation
  } catch (error) {
    throw error instanceof PasswordBusyError ? requestError('RATE_LIMITED', { retryAfterSeconds: 1 }) : error
  }
}
