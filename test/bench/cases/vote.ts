import { encodeId } from '../../../src/graphql/ids.ts'
import { asked, byHand, graphql } from '../asking.ts'
import type { Case } from '../case.ts'
import { CARDS, type Fixtures, type Table } from '../fixtures.ts'
import type { Exchange } from '../http-load.ts'
import { CONNECTIONS, type Stage } from '../stage.ts'

const DOCUMENT = `mutation Vote($input: VoteCastInput!) {
  voteCast(input: $input) { __typename ... on VoteCastPayload { myCard } }
}`
const answer = (card: string) => ({ voteCast: { __typename: 'VoteCastPayload', myCard: card } })

/** One vote after the other at a table, each with another card than the last. */
export function votes({ roomId, storyId, roundVersion }: Table): Exchange[] {
  const table = { roomId: encodeId('Room', roomId), storyId: encodeId('Story', storyId), roundVersion }
  return CARDS.map((card) => graphql(DOCUMENT, { input: { ...table, card } }, answer(card)))
}

export const vote: Case = {
  name: 'vote',
  title: 'voteCast',
  unit: 'request',
  comparisons: [{ against: 'SQL by hand', target: 0.5 }],
  async set(stage, { requests, rounds }) {
    const { fixtures, product, plainPg, load } = stage
    const seats = fixtures.tables.slice(0, CONNECTIONS).map((table, at) => ({ table, person: fixtures.people[at]! }))
    const ofPeer = seats.map(({ table, person }) =>
      CARDS.map((card) => byHand({ org: fixtures.orgId, user: person.userId, ...table, card }, answer(card))),
    )
    const common = { load, turns: 'vote', warmUp: requests }
    const peer = { server: plainPg, path: '/vote', ...common }
    const before = await counted(stage, fixtures)
    return {
      units: requests,
      contenders: [
        asked({
          ...{ name: 'moothall', server: product, path: '/graphql', ...common },
          connections: seats.map(({ table, person }) => ({ person, exchanges: votes(table) })),
        }),
        asked({
          ...{ name: 'SQL by hand', ...peer },
          connections: ofPeer.map((exchanges) => ({ person: null, exchanges })),
        }),
        asked({
          ...{ name: 'SQL by hand, authenticating', ...peer },
          connections: seats.map(({ person }, at) => ({ person, exchanges: ofPeer[at]! })),
        }),
      ],
      async end() {
        const cast = 3 * requests * (rounds + 1)
        for (const [what, count] of Object.entries(await counted(stage, fixtures))) {
          const more = count - before[what]!
          if (more !== cast) throw new Error(`${cast} votes left ${more} ${what}`)
        }
      },
    }
  },
}

/** What every vote must leave behind, whoever wrote it. */
async function counted({ ask }: Stage, { orgId, tables }: Fixtures): Promise<Record<string, number>> {
  const rooms = tables.map(({ roomId }) => roomId)
  const [row] = await ask<Record<'versions' | 'events' | 'facts', number>>(
    `SELECT (SELECT sum(version)::integer FROM rooms.rooms WHERE org_id = $1 AND id = ANY ($2)) AS versions,
       (SELECT count(*)::integer FROM rooms.room_events WHERE org_id = $1 AND room_id = ANY ($2)) AS events,
       (SELECT count(*)::integer FROM platform.audit_events
        WHERE org_id = $1 AND room_id = ANY ($2) AND event_type = 'vote.cast') AS facts`,
    [orgId, rooms],
  )
  return row!
}
