import { asked, graphql } from '../asking.ts'
import type { Case } from '../case.ts'
import type { Figures } from '../report.ts'
import { CONNECTIONS } from '../stage.ts'

/** What authentication costs: the document that reads nothing, by session, by API key and as nobody. */
export const authentication: Case = {
  name: 'authentication',
  title: 'a document that reads nothing',
  unit: 'request',
  comparisons: [{ against: 'moothall, as nobody' }],
  async set({ fixtures, product, load }, { requests }) {
    const exchanges = [graphql('{ __typename }', {}, { __typename: 'Query' })]
    const common = { server: product, path: '/graphql', load, turns: 'authentication', warmUp: requests }
    const people = fixtures.people.slice(0, CONNECTIONS)
    const by = (name: string, personOf: (at: number) => { token: string } | null) =>
      asked({ name, ...common, connections: people.map((_, at) => ({ person: personOf(at), exchanges })) })
    return {
      units: requests,
      contenders: [
        by('moothall', (at) => people[at]!),
        by('moothall, by API key', () => ({ token: fixtures.apiKey })),
        by('moothall, as nobody', () => null),
      ],
      note: ([session, key, nobody]) => `a session costs ${more(session!, nobody!)}; an API key ${more(key!, nobody!)}`,
    }
  },
}

const more = (one: Figures, other: Figures) =>
  `${(one.cpuMs - other.cpuMs).toFixed(3)} ms CPU a request, in the database ${(one.databaseMs - other.databaseMs).toFixed(3)} ms`
