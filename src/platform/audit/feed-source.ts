import type { Repeater } from '@repeaterjs/repeater'
import { operation } from '../../db/operation.ts'
import type { Scope } from '../../db/scope.ts'
import type { Where } from '../../graphql/comparators.ts'
import { currentBus } from '../../live/current-bus.ts'
import { sourceOf } from '../../live/source.ts'
import type { Position } from './cursor.ts'
import { type FeedPlace, readFeed } from './feed.ts'
import { noteHidden } from './lag.ts'

const PAGE = 100

/** Follows an org's feed from a place on, each read in an operation of its own (PLAT-17, 19). */
export function followFeed(scope: Scope & { orgId: string }, from: FeedPlace, where: Where | null): Repeater<Position> {
  const { orgId } = scope
  const reader = {}
  let place = from
  return sourceOf<Position>({
    attach(wake) {
      const bus = currentBus()
      const releases = [bus.subscribe({ channel: 'audit', orgId }, wake), bus.onDoubt(wake)]
      return () => {
        for (const release of releases) release()
        noteHidden(reader, null)
      }
    },
    async read() {
      for (;;) {
        const page = await operation('read', scope, () => readFeed(orgId, place, PAGE, where))
        place = page.place
        noteHidden(reader, page.hiddenSince)
        if (page.rows.length > 0 || !page.hasMore) return { items: page.rows, behind: !page.caughtUp }
      }
    },
  })
}
