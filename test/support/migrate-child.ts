import { once } from 'node:events'
import { migrate } from '../../src/db/migrate.ts'

// One of many processes that start at once: says that it is ready, waits for the end of its input, then prints what it
// applied, or the fault.
const [url = '', folder = ''] = process.argv.slice(2)
process.stdout.write('ready\n')
await once(process.stdin.resume(), 'end')
try {
  process.stdout.write(JSON.stringify(await migrate({ url, folder })))
} catch (error) {
  process.stdout.write(JSON.stringify({ error: String(error) }))
}
