import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { authenticate } from './authenticate.ts'
import { readBoard, readList, readNode } from './reads.ts'
import { castVote } from './vote.ts'

// A server with nothing between node:http and node-postgres: what the machine gives to somebody who writes each answer
// by hand. It knows who asks from the body, or with an authorization header from the session, as the product does.

const routes: Record<string, (scope: { org: string; user: string }, asked: never) => Promise<string>> = {
  '/node': readNode,
  '/list': readList,
  '/board': readBoard,
  '/vote': castVote,
}

const server = createServer(async (request, response) => {
  try {
    const asked = JSON.parse(await bodyOf(request)) as { org: string; user: string }
    const { authorization } = request.headers
    const scope = authorization === undefined ? { org: asked.org, user: asked.user } : await authenticate(authorization)
    const body = `{"data":${await routes[request.url ?? '']!(scope, asked as never)}}`
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
  } catch (error) {
    response.writeHead(500).end((error as Error).message)
  }
})

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(request, 'end')
  return Buffer.concat(chunks).toString()
}

server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.stdout.write(`${JSON.stringify({ endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`)
process.once('SIGTERM', () => process.exit())
