import { currentOperation } from '../../db/operation.ts'
import type { Bus } from '../../live/bus.ts'
import type { IdentityHint } from '../../live/hints.ts'
import { findKey, type KeyRow } from '../session/preauth.ts'

const KNOWN_FOR = 30_000
const REMEMBERED = 10_000

/** Keys as they were read a moment ago, by prefix; only those that held (PLAT-29). */
const known = new Map<string, { row: KeyRow; until: number }>()
/** How often some were forgotten: what was being read meanwhile may be from before. */
let forgotten = 0
let bus: Bus | undefined

/**
 * Lets this process remember keys for 30 s at most, as long as it is known to hear of their changes. Until then, and while
 * the listener is unconfirmed, each is read anew. Returns the end of it.
 */
export function rememberKeys(hints: Bus): () => void {
  bus = hints
  const unfollow = hints.subscribe({ channel: 'identity' }, forgetWhatChanged)
  const undoubt = hints.onDoubt(() => forget(() => true))
  return () => {
    unfollow()
    undoubt()
    bus = undefined
    known.clear()
  }
}

/** A key and all that decides on it, by its prefix; undefined when there is none. `admit` may refuse to look it up. */
export async function keyByPrefix(prefix: string, admit: () => Promise<void>): Promise<KeyRow | undefined> {
  const remembered = bus?.confirmed ? known.get(prefix) : undefined
  if (remembered && remembered.until > performance.now()) return remembered.row
  await admit()
  const before = forgotten
  const row = await findKey(prefix)
  if (row && holds(row) && bus?.confirmed && forgotten === before) {
    if (known.size >= REMEMBERED) known.clear()
    known.set(prefix, { row, until: performance.now() + Math.min(KNOWN_FOR, row.ends_in ?? KNOWN_FOR) })
  }
  return row
}

/** Whether the key held when it was read, by the clock of the database. */
export const holds = ({ revoked_at, ends_in, org_status }: KeyRow): boolean =>
  revoked_at === null && (ends_in === null || ends_in > 0) && (org_status === 'active' || org_status === 'archived')

/** In the operation that changes what keys of the org may do: this process knows better from the commit on (PLAT-29). */
export function forgetKeysAtCommit(orgId: string): void {
  currentOperation().afterCommit(() => forget(({ org_id }) => org_id === orgId))
}

function forgetWhatChanged({ type, id }: IdentityHint): void {
  if (type === 'key') forget(({ key_id }) => key_id === id)
  if (type === 'agent') forget(({ agent_id }) => agent_id === id)
  if (type === 'org') forget(({ org_id }) => org_id === id)
}

function forget(concerned: (row: KeyRow) => boolean): void {
  forgotten += 1
  for (const [prefix, { row }] of known) if (concerned(row)) known.delete(prefix)
}
