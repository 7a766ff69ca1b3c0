import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type ServerProcess, startServerProcess } from './server-process.ts'

const MAIN = join(import.meta.dirname, '../../src/main.ts')

/** The product as an operator runs it in production, with limits so high that they are counted and never reached. */
export function startProduct(appUrl: string, profile: string | undefined): Promise<ServerProcess> {
  const flags = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : []
  return startServerProcess([...flags, MAIN, 'start', '--json'], {
    NODE_ENV: 'production',
    PORT: '0',
    DATABASE_URL: appUrl,
    MOOTHALL_AUTO_MIGRATE: 'false',
    MOOTHALL_KEY_PEPPERS: `1:${randomBytes(32).toString('base64')}`,
    MOOTHALL_ENCRYPTION_KEYS: `1:${randomBytes(32).toString('base64')}`,
    MOOTHALL_RATE_PERSON: '1000000',
    MOOTHALL_RATE_NOBODY: '1000000',
    MOOTHALL_RATE_COST: '100000000',
    MOOTHALL_DRAIN_DELAY: '0s',
  })
}
