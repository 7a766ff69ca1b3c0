import { sql, sqlOne } from '../../db/sql.ts'
import { actorId, type Caller } from '../../graphql/caller.ts'
import { ConflictError, invalidInput, LimitReachedError, NotFoundError } from '../../graphql/errors.ts'
import { record } from '../../platform/index.ts'
import { lockAgent } from './agent.ts'
import { agentIntentKeyAdded, agentIntentKeyRemoved } from './events.ts'
import { type IntentKey, intentKeysIn, kidOf, readPublicKey } from './intent-key.ts'

/** Two, so that one can be replaced while the other is in use. */
const KEYS_MAX = 2

/** Lets an agent's intents be signed with one more key (ID-48). */
export async function addIntentKey(
  caller: Caller,
  { id, publicKey }: { id: string; publicKey: string },
): Promise<{ agentId: string; kid: string }> {
  const read = readPublicKey(publicKey)
  if ('fault' in read) throw invalidInput('publicKey', read.fault)
  const kid = kidOf(read.raw)
  const keys = intentKeysIn((await lockAgent(caller, id)).intentKeys)
  if (keys.some((key) => key.kid === kid)) throw new ConflictError('The agent has that key already.')
  if (keys.length >= KEYS_MAX) throw new LimitReachedError(KEYS_MAX)

  const { at } = await sqlOne<{ at: string }>`
    SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at`
  await putKeys(caller, id, [...keys, { kid, public_key: publicKey, created_at: at, created_by: actorId(caller) }])
  await record(caller, agentIntentKeyAdded, { target: { kind: 'Agent', id }, payload: { kid } })
  return { agentId: id, kid }
}

/** From the commit on nothing signed with the key is taken. */
export async function removeIntentKey(
  caller: Caller,
  { id, kid }: { id: string; kid: string },
): Promise<{ agentId: string }> {
  const keys = intentKeysIn((await lockAgent(caller, id)).intentKeys)
  const left = keys.filter((key) => key.kid !== kid)
  if (left.length === keys.length) throw new NotFoundError('kid')

  await putKeys(caller, id, left)
  await record(caller, agentIntentKeyRemoved, { target: { kind: 'Agent', id }, payload: { kid } })
  return { agentId: id }
}

async function putKeys({ orgId }: Caller, id: string, keys: readonly IntentKey[]): Promise<void> {
  await sql`
    UPDATE identity.agents SET intent_keys = ${JSON.stringify(keys)}::jsonb WHERE org_id = ${orgId} AND id = ${id}`
}
