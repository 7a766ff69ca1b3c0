import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

// The least a broadcast can be: what is posted goes to every socket as it is.

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.once('end', () => {
    const text = Buffer.concat(chunks).toString()
    for (const socket of sockets.clients) socket.send(text)
    response.end('{"data":{}}')
  })
})
const sockets = new WebSocketServer({ server, perMessageDeflate: false })

server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.stdout.write(`${JSON.stringify({ endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`)
process.once('SIGTERM', () => process.exit())
