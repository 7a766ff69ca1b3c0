import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { authenticate } from './authenticate.ts'

// PostGraphile 5 as its documentation sets it up: the Amber preset over the same tables, under the same row security and
// with the same number of connections. It knows who asks from two headers, or with an authorization header from the
// session, as the product does. Its packages are this folder's own, so what they export is named in text.

const load = <T>(name: string): Promise<T> => import(name)
type Serv = { addTo(server: unknown): Promise<void> }
const { postgraphile } = await load<{ postgraphile(preset: object): { createServ(kind: unknown): Serv } }>(
  'postgraphile',
)
const { PostGraphileAmberPreset } = await load<{ PostGraphileAmberPreset: object }>('postgraphile/presets/amber')
const { makePgService } = await load<{ makePgService(options: object): object }>('postgraphile/adaptors/pg')
const { grafserv } = await load<{ grafserv: unknown }>('postgraphile/grafserv/node')

const preset = {
  extends: [PostGraphileAmberPreset],
  pgServices: [
    makePgService({
      connectionString: process.env['DATABASE_URL'],
      schemas: ['rooms', 'identity'],
      poolConfig: { max: 10 },
    }),
  ],
  grafast: { explain: false, context: contextOf },
  grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false },
}

async function contextOf({ node }: { node: { req: IncomingMessage } }): Promise<object> {
  const { authorization, 'x-org': org, 'x-user': user } = node.req.headers
  const scope = authorization === undefined ? { org, user } : await authenticate(authorization)
  return {
    pgSettings: { TimeZone: 'UTC', 'moothall.org_id': scope.org as string, 'moothall.user_id': scope.user as string },
  }
}

const server = createServer()
await postgraphile(preset).createServ(grafserv).addTo(server)
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.stdout.write(`${JSON.stringify({ endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`)
process.once('SIGTERM', () => process.exit())
