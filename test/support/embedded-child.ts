import { startEmbedded } from '../../src/db/embedded.ts'

// A process that uses a database server: says which, then stops it when its input ends. It may be killed before.
const say = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`)
try {
  const server = await startEmbedded({ dataDir: process.argv[2] ?? '' })
  const { port, adopted, processId } = server
  say({ port, adopted, processId, uid: process.getuid?.(), appUrl: server.appUrl('postgres') })
  process.stdin.on('end', () => server.stop().then(() => say({ stopped: true })))
  process.stdin.resume()
} catch (error) {
  say({ error: String(error) })
}
