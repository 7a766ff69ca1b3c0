import { asked, graphql } from '../asking.ts'
import type { Case } from '../case.ts'
import { CONNECTIONS } from '../stage.ts'

/** What authentication costs: the document that reads nothing, signed in and as nobody. */
export const authentication: Case = {
  name: 'authentication',
  title: 'a document that reads nothing',
  unit: 'request',
  against: 'moothall, as nobody',
  async set({ fixtures, product, load }, { requests }) {
    const exchanges = [graphql('{ __typename }', {}, { __typename: 'Query' })]
    const common = { server: product, path: '/graphql', load, turns: 'authentication', warmUp: requests }
    const people = fixtures.people.slice(0, CONNECTIONS)
    return {
      units: requests,
      contenders: [
        asked({ name: 'moothall', ...common, connections: people.map((person) => ({ person, exchanges })) }),
        asked({ name: 'moothall, as nobody', ...common, connections: people.map(() => ({ person: null, exchanges })) }),
      ],
      note: ([signedIn, nobody]) =>
        `authentication: ${(signedIn!.cpuMs - nobody!.cpuMs).toFixed(3)} ms CPU a request, in the database ${(signedIn!.databaseMs - nobody!.databaseMs).toFixed(3)} ms`,
    }
  },
}
