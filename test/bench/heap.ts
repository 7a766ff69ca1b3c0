import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { ServerProcess } from './server-process.ts'

/** For `startProduct`: lets the heap be looked at from outside. */
export const INSPECTED = '--inspect=127.0.0.1:0'

/** Bytes of JavaScript heap in use after a full collection. */
export async function heapOf(server: ServerProcess): Promise<number> {
  const [url] = /ws:\/\/[\w.:/-]+/.exec(server.lastWords()) ?? []
  if (!url) throw new Error(`the server says nothing of its inspector: ${server.lastWords()}`)
  const socket = new WebSocket(url)
  await once(socket, 'open')
  try {
    let id = 0
    const call = async (method: string): Promise<{ usedSize: number }> => {
      socket.send(JSON.stringify({ id: ++id, method }))
      const [bytes] = (await once(socket, 'message')) as [Buffer]
      return (JSON.parse(bytes.toString()) as { result: { usedSize: number } }).result
    }
    await call('HeapProfiler.collectGarbage')
    await call('HeapProfiler.collectGarbage') // what the first one left to finalizers
    return (await call('Runtime.getHeapUsage')).usedSize
  } finally {
    socket.terminate()
  }
}
