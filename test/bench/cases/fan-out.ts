import { encodeId } from '../../../src/graphql/ids.ts'
import type { Case } from '../case.ts'
import type { Contender } from '../compare.ts'
import type { Exchange } from '../http-load.ts'
import { votes } from './vote.ts'

const DOCUMENT = `subscription Room($roomId: ID!) {
  roomEvents(roomId: $roomId) {
    __typename version at actor { id displayName }
    ... on VoteCast { storyId roundVersion userId }
  }
}`

/**
 * One vote to many sockets, against the same bytes to as many sockets of a server that does nothing else. The vote itself
 * is inside: reading, masking and storing it is what there is to broadcast. What it costs alone stands beside it.
 */
export const fanOut: Case = {
  name: 'fan-out',
  title: 'one VoteCast to all subscribers',
  unit: 'event',
  comparisons: [{ against: 'bare ws', target: 0.7 }],
  async set({ fixtures, product, bareWs, load }, { subscribers, events, requests }) {
    const { people, watched, tables } = fixtures
    const payload = { query: DOCUMENT, variables: { roomId: encodeId('Room', watched.roomId) } }
    const subscriptions = Array.from({ length: subscribers }, (_, at) => ({
      authorization: `Bearer ${people[at % people.length]!.token}`,
      payload,
    }))
    await load.run('openSockets', { group: 'product', url: `${product.url}/graphql`, subscriptions })
    await load.run('openSockets', { group: 'bare', url: bareWs.url, subscriptions: subscribers })

    const voter = people.at(-1)!
    const authorization = { authorization: `Bearer ${voter.token}` }
    let frameBytes = 0
    const broadcasting = (
      name: string,
      server: Contender['server'],
      group: string,
      exchanges: Exchange[] | null,
    ): Contender => ({
      name,
      server,
      warmUp: 3 * events,
      async run(units) {
        const publish = exchanges
          ? { url: `${server.url}/graphql`, headers: authorization, exchanges }
          : { url: server.url, headers: {}, exchanges }
        const outcome = await load.run('broadcast', {
          group,
          publish,
          marker: '"__typename":"VoteCast"',
          events: units,
        })
        frameBytes = outcome.frameBytes
        return outcome
      },
    })
    const alone: Contender = {
      name: 'moothall, nobody subscribed',
      server: product,
      warmUp: requests,
      run: (units) =>
        load.run('http', {
          url: `${product.url}/graphql`,
          turns: 'fan-out',
          requests: units,
          connections: [{ headers: authorization, exchanges: votes(tables[0]!) }],
        }),
    }
    return {
      units: events,
      contenders: [
        broadcasting('moothall', product, 'product', votes(watched)),
        broadcasting('bare ws', bareWs, 'bare', null),
        alone,
      ],
      end: async () => {
        await load.run('closeSockets', null)
      },
      note: ([whole, bare, vote]) => {
        const share = bare!.cpuMs / (whole!.cpuMs - vote!.cpuMs)
        return `${subscribers} subscribers, frames of ${frameBytes} bytes; without the vote itself ${share.toFixed(2)}×; p50 and p99 from publishing to delivery`
      },
    }
  },
}
