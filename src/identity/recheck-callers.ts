import { type Caller, credentialId } from '../graphql/caller.ts'
import { type Held, recheckSessions } from './session/recheck-sessions.ts'

/** Which of these callers' sessions and keys still hold, by credential; the others are missing (PLAT-33). */
export async function recheckCallers(callers: readonly Caller[]): Promise<Map<string, Held>> {
  return recheckSessions(callers.filter(({ kind }) => kind === 'session').map(credentialId))
}

/** The caller as they stand at this moment, for one event of a stream (ID-2); null when the credential holds no longer. */
export async function refreshCaller(caller: Caller): Promise<Caller | null> {
  return (await recheckCallers([caller])).get(credentialId(caller))?.caller ?? null
}
