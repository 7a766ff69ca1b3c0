import type { Caller } from '../../graphql/caller.ts'
import type { Context } from '../../graphql/context.ts'
import { ConflictError, invalidInput } from '../../graphql/errors.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { addressKey } from '../../platform/index.ts'
import { beginHandoff } from '../session/preauth.ts'
import { requireAddressLimit } from '../session/require-address-limit.ts'
import { identitySettings } from '../settings.ts'
import { bytes32, clientKeyOf, newDisplayCode } from './secrets.ts'

type Start = { challenge: string; provider: string }
export type StartedHandoff = { displayCode: string; expiresAt: string }

/** Begins a hand-off to a frame that keeps the verifier of this challenge (ID-30). Nobody needs to be signed in there. */
export async function startHandoff(
  _caller: Caller | null,
  { challenge, provider }: Start,
  { client }: Context,
): Promise<StartedHandoff> {
  const hash = bytes32('challenge', challenge)
  if (!identitySettings().embedProviders.includes(provider)) {
    throw invalidInput('provider', 'must be a meeting client that the server is set up for')
  }
  await requireAddressLimit('embedHandoff', client.address)

  const displayCode = newDisplayCode()
  const begun = await beginHandoff({ hash, displayCode, provider, clientKey: clientKeyOf(addressKey(client.address)) })
  if (begun.outcome === 'full') {
    throw requestError('RATE_LIMITED', { retryAfterSeconds: Math.max(begun.wait_seconds ?? 1, 1) })
  }
  if (begun.outcome === 'taken' || !begun.expires_at) throw new ConflictError('A hand-off has this challenge already.')
  return { displayCode, expiresAt: begun.expires_at.toISOString() }
}
