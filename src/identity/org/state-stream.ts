import type { Repeater } from '@repeaterjs/repeater'
import { operation } from '../../db/operation.ts'
import type { Scope } from '../../db/scope.ts'
import { sqlOne } from '../../db/sql.ts'
import { currentBus } from '../../live/current-bus.ts'
import { sourceOf } from '../../live/source.ts'

/** Hints and doubts of the bus wake it; this is for what neither told. */
const POLL_EVERY = 15_000

/** What stopping, resuming, archiving and unarchiving change, as one text. */
export async function orgState(orgId: string): Promise<string> {
  const { state } = await sqlOne<{ state: string }>`
    SELECT concat_ws(' ', status, archived_at, stopped_at) AS state FROM identity.orgs WHERE id = ${orgId}`
  return state
}

/** Calls each time that the org's state is another than it was, each look in an operation of its own (ID-58). */
export function followOrgState(scope: Scope & { orgId: string }, from: string): Repeater<{ orgId: string }> {
  const { orgId } = scope
  let known = from
  return sourceOf({
    pollEvery: POLL_EVERY,
    attach(wake) {
      const bus = currentBus()
      const hinted = bus.subscribe({ channel: 'identity' }, ({ type, id }) => {
        if (type === 'org' && id === orgId) wake()
      })
      const doubted = bus.onDoubt(wake)
      return () => {
        hinted()
        doubted()
      }
    },
    async read() {
      const state = await operation('read', scope, () => orgState(orgId))
      const items = state === known ? [] : [{ orgId }]
      known = state
      return { items }
    },
  })
}
