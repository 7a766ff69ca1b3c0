const MESSAGES = {
  address: 'address not allowed',
  name: 'name not found',
  connection: 'no connection',
  tls: 'no trusted connection',
  timeout: 'timed out',
  cancelled: 'cancelled',
  protocol: 'no readable answer',
} as const

export type EgressFault = keyof typeof MESSAGES

/** Why a request got no answer, in our words: what the network says may tell of what is behind it (PLAT-47). */
export class EgressError extends Error {
  override readonly name = 'EgressError'
  readonly fault: EgressFault
  constructor(fault: EgressFault, options?: ErrorOptions) {
    super(MESSAGES[fault], options)
    this.fault = fault
  }
}

const TLS = /^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|EPROTO)/
const NAME = /^(ENOTFOUND|EAI_|ENODATA)/
const TIMEOUT = /TIMEOUT|ETIMEDOUT/

/** What a failed request comes to. Codes alone are looked at. */
export function egressErrorOf(error: unknown): EgressError {
  if (error instanceof EgressError) return error
  const { name = '', code = '' } = error as { name?: string; code?: unknown }
  const text = String(code)
  if (name === 'TimeoutError' || TIMEOUT.test(text)) return new EgressError('timeout', { cause: error })
  if (name === 'AbortError') return new EgressError('cancelled', { cause: error })
  if (NAME.test(text)) return new EgressError('name', { cause: error })
  if (TLS.test(text)) return new EgressError('tls', { cause: error })
  if (/^(HPE_|UND_ERR_(HEADERS|RESPONSE|INVALID|RES))/.test(text)) return new EgressError('protocol', { cause: error })
  return new EgressError('connection', { cause: error })
}
