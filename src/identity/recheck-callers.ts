import { type Caller, credentialId } from '../graphql/caller.ts'
import { recheckKeys } from './api-key/recheck-keys.ts'
import { type Held, recheckSessions } from './session/recheck-sessions.ts'

/** Which of these callers' sessions and keys still hold, by credential, in a statement a kind; the others are missing (PLAT-33). */
export async function recheckCallers(callers: readonly Caller[]): Promise<Map<string, Held>> {
  const sessionIds: string[] = []
  const keys: { orgId: string; keyId: string }[] = []
  for (const caller of callers) {
    if (caller.kind === 'session') sessionIds.push(caller.sessionId)
    else keys.push(caller)
  }
  const [sessions, ofKeys] = await Promise.all([recheckSessions(sessionIds), recheckKeys(keys)])
  return new Map([...sessions, ...ofKeys])
}

/** The caller as they stand at this moment, for one event of a stream (ID-2); null when the credential holds no longer. */
export async function refreshCaller(caller: Caller): Promise<Caller | null> {
  return (await recheckCallers([caller])).get(credentialId(caller))?.caller ?? null
}
