import type { EgressAnswer } from '../../lib/egress/client.ts'
import type { EgressFault } from '../../lib/egress/errors.ts'
import { redactText } from '../../lib/redact.ts'
import { truncateText } from '../../lib/truncate.ts'
import { pauseAfter } from '../../queue/retry.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const PAUSES = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR]
const ASKED_MAX = HOUR
export const ANSWER_BYTES = 4_096

/** What came of an attempt. */
export type Result =
  | { readonly status: number; readonly text: string; readonly retryAfter: number | null }
  | { readonly fault: EgressFault | 'preparation' | 'exhausted'; readonly message: string }

export type Outcome =
  | { readonly kind: 'delivered' }
  /** The receiver says that it is no more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'retry'; readonly pause: number }
  | { readonly kind: 'dead' }
  /** Our own process ends: nobody's failure, and due at once for another. */
  | { readonly kind: 'released' }

/** `failures`: with this one, since the delivery was made or sent once more (PLAT-42). */
export function outcomeOf(result: Result, failures: number, maxAttempts: number): Outcome {
  if ('status' in result) {
    if (result.status >= 200 && result.status < 300) return { kind: 'delivered' }
    if (result.status === 410) return { kind: 'gone' }
  } else if (result.fault === 'cancelled') return { kind: 'released' }
  const pause = pauseAfter(failures, { pauses: PAUSES, maxAttempts })
  if (pause === null) return { kind: 'dead' }
  // A receiver may ask for more time than it would get, never for less.
  const asked = 'status' in result ? Math.min(result.retryAfter ?? 0, ASKED_MAX) : 0
  return { kind: 'retry', pause: Math.max(pause, asked) }
}

/** Text of the receiver's may hold anything: what PostgreSQL cannot store is replaced, what is secret taken out (PLAT-43). */
export function resultOf({ status, headers, body }: EgressAnswer): Result {
  const text = new TextDecoder().decode(body).replaceAll('\0', '\ufffd')
  const mayAsk = status === 429 || status === 503
  return {
    status,
    text: truncateText(redactText(text), ANSWER_BYTES),
    retryAfter: mayAsk ? retryAfterOf(headers['retry-after']) : null,
  }
}

/** Milliseconds; seconds and dates are both in use. */
function retryAfterOf(header: string | string[] | undefined): number | null {
  if (typeof header !== 'string') return null
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND
  const until = Date.parse(header)
  return Number.isNaN(until) ? null : Math.max(0, until - Date.now())
}
