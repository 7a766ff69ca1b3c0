import type { ServerResponse } from 'node:http'
import { requestError } from '../graphql/request-errors.ts'
import { answerError } from './answer-error.ts'

const TOO_LONG = 'The request took too long. Whether it took effect is not known; look before you repeat it.'

/**
 * Answers for a request that has not begun its answer in time (PLAT-68). What it runs comes to its own end, bounded by the
 * timeouts of its statements; streams have begun theirs and are not concerned.
 */
export function answerWithin(milliseconds: number, response: ServerResponse): void {
  const timer = setTimeout(() => {
    if (!response.headersSent) answerError(response, requestError('TIMEOUT', { message: TOO_LONG }))
  }, milliseconds)
  response.once('close', () => clearTimeout(timer))
}
