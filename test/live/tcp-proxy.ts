import { connect, createServer, type Server, type Socket } from 'node:net'

/** A relay that can fail as networks do. */
export type TcpProxy = {
  /** The same address through the relay. */
  through(url: string): string
  /** Connections stay open and carry nothing any more, new ones neither: a pulled cable. */
  freeze(): void
  thaw(): void
  /** Resets every connection. */
  reset(): void
  readonly connections: number
  close(): Promise<void>
}

export async function tcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const pairs = new Set<[Socket, Socket]>()
  let frozen = false

  const server: Server = createServer({ pauseOnConnect: true }, (inner) => {
    const outer = connect(Number(port), hostname)
    const pair: [Socket, Socket] = [inner, outer]
    pairs.add(pair)
    for (const [from, to] of [pair, [outer, inner]] as const) {
      from.on('data', (chunk) => to.write(chunk))
      from.on('error', () => {})
      from.on('close', () => {
        pairs.delete(pair)
        to.destroy()
      })
    }
    if (!frozen) inner.resume()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')

  return {
    through(url) {
      const relayed = new URL(url)
      relayed.hostname = '127.0.0.1'
      relayed.port = String(address.port)
      return relayed.href
    },
    freeze() {
      frozen = true
      for (const socket of [...pairs].flat()) socket.pause()
    },
    thaw() {
      frozen = false
      for (const socket of [...pairs].flat()) socket.resume()
    },
    reset() {
      for (const [inner] of pairs) inner.resetAndDestroy()
    },
    get connections() {
      return pairs.size
    },
    async close() {
      for (const socket of [...pairs].flat()) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
