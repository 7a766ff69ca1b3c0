import type { Contender } from './compare.ts'
import type { Person } from './fixtures.ts'
import type { Exchange, HttpJob } from './http-load.ts'
import type { LoadProcess } from './load-process.ts'
import type { ServerProcess } from './server-process.ts'

/** What one connection asks, and who it asks as; nobody where that is null. */
export type Asking = { person: Pick<Person, 'token'> | null; headers?: Record<string, string>; exchanges: Exchange[] }

type Asked = {
  name: string
  server: ServerProcess
  path: string
  warmUp: number
  load: LoadProcess
  turns: string
  connections: Asking[]
}

/** A contender that answers requests over HTTP. */
export function asked({ name, server, path, warmUp, load, turns, connections }: Asked): Contender {
  const job: Omit<HttpJob, 'requests'> = {
    url: `${server.url}${path}`,
    turns,
    connections: connections.map(({ person, headers, exchanges }) => ({
      headers: { ...headers, ...(person && { authorization: `Bearer ${person.token}` }) },
      exchanges,
    })),
  }
  return { name, server, warmUp, run: (requests) => load.run('http', { ...job, requests }) }
}

/** A GraphQL document and the JSON of the data it must answer with. */
export function graphql(query: string, variables: object, data: object): Exchange {
  return { send: JSON.stringify({ query, variables }), expect: JSON.stringify(data) }
}

export function byHand(body: object, data: object): Exchange {
  return { send: JSON.stringify(body), expect: JSON.stringify(data) }
}
