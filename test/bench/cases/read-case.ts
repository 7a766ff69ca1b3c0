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
  /** The same question to PostGraphile, whose schema has other names and whose enums are the columns' text. */
  postgraphile: { document: string; variables(fixtures: Fixtures): object; data(fixtures: Fixtures): object }
  /** Shares of plain pg's speed, and of PostGraphile's with the look-up of the session. */
  targets?: { plainPg: number; postgraphile: number }
}

const POSTGRAPHILE = 'PostGraphile, authenticating'

/** A query against SQL that puts the same JSON together, with and without the look-up of the session. */
export function readCase(read: Read): Case {
  const { name, title, document, variables, path, asked: body, data, postgraphile: other, targets } = read
  return {
    name,
    title,
    unit: 'request',
    comparisons: [
      { against: 'plain pg', ...(targets && { target: targets.plainPg }) },
      { against: POSTGRAPHILE, ...(targets && { target: targets.postgraphile }) },
    ],
    async set({ fixtures, product, plainPg, postgraphile, load }, { requests }) {
      const people = fixtures.people.slice(0, CONNECTIONS)
      const ofProduct = [graphql(document, variables(fixtures), data(fixtures))]
      const ofPeer = people.map(({ userId }) => [
        byHand({ org: fixtures.orgId, user: userId, ...body(fixtures) }, data(fixtures)),
      ])
      const common = { load, turns: name, warmUp: requests }
      const peer = { server: plainPg, path, ...common }
      const ofOther = [graphql(other.document, other.variables(fixtures), other.data(fixtures))]
      const contenders = [
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
      ]
      if (postgraphile) {
        const of = { server: postgraphile, path: '/graphql', ...common }
        contenders.push(
          asked({
            ...{ name: 'PostGraphile', ...of },
            connections: people.map(({ userId }) => ({
              person: null,
              headers: { 'x-org': fixtures.orgId, 'x-user': userId },
              exchanges: ofOther,
            })),
          }),
          asked({
            ...{ name: POSTGRAPHILE, ...of },
            connections: people.map((person) => ({ person, exchanges: ofOther })),
          }),
        )
      }
      return { units: requests, contenders }
    },
  }
}
