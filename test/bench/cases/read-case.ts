import { asked, byHand, graphql } from '../asking.ts'
import type { Case } from '../case.ts'
import type { Fixtures } from '../fixtures.ts'
import { CONNECTIONS } from '../stage.ts'

type Read = {
  name: string
  title: string
  document: string
  variables(fixtures: Fixtures): object
  /** The same question to the server written by hand. */
  path: string
  asked(fixtures: Fixtures): object
  /** What both must answer, to the byte. */
  data(fixtures: Fixtures): object
  target?: number
}

/** A query against SQL that puts the same JSON together, with and without the look-up of the session. */
export function readCase({ name, title, document, variables, path, asked: body, data, target }: Read): Case {
  return {
    name,
    title,
    unit: 'request',
    against: 'plain pg',
    ...(target !== undefined && { target }),
    async set({ fixtures, product, plainPg, load }, { requests }) {
      const people = fixtures.people.slice(0, CONNECTIONS)
      const ofProduct = [graphql(document, variables(fixtures), data(fixtures))]
      const ofPeer = people.map(({ userId }) => [
        byHand({ org: fixtures.orgId, user: userId, ...body(fixtures) }, data(fixtures)),
      ])
      const common = { load, turns: name, warmUp: requests }
      const peer = { server: plainPg, path, ...common }
      return {
        units: requests,
        contenders: [
          asked({
            ...{ name: 'moothall', server: product, path: '/graphql', ...common },
            connections: people.map((person) => ({ person, exchanges: ofProduct })),
          }),
          asked({
            ...{ name: 'plain pg', ...peer },
            connections: ofPeer.map((exchanges) => ({ person: null, exchanges })),
          }),
          asked({
            ...{ name: 'plain pg, authenticating', ...peer },
            connections: people.map((person, at) => ({ person, exchanges: ofPeer[at]! })),
          }),
        ],
      }
    },
  }
}
