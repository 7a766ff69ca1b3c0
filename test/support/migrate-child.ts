import { migrate } from '../../src/db/migrate.ts'

// One of many processes that start at once: prints what it applied, or the fault.
const [url = '', folder = ''] = process.argv.slice(2)
try {
  process.stdout.write(JSON.stringify(await migrate({ url, folder })))
} catch (error) {
  process.stdout.write(JSON.stringify({ error: String(error) }))
}
