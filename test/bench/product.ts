import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { PEPPER } from '../support/api-key.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The product as an operator runs it in production, with limits so high that they are counted and never reached. */
export function startProduct(appUrl: string, ...flags: string[]): Promise<ServerProcess> {
  return startProductWith(appUrl, { flags })
}

type Start = {
  /** Of Node. */
  flags?: readonly string[]
  env?: Record<string, string>
  /** Another checkout, to compare with. */
  root?: string
}

export function startProductWith(appUrl: string, { flags = [], env = {}, root = ROOT }: Start): Promise<ServerProcess> {
  return startServerProcess([...flags, join(root, 'src/main.ts'), 'start', '--json'], {
    NODE_ENV: 'production',
    PORT: '0',
    DATABASE_URL: appUrl,
    MOOTHALL_AUTO_MIGRATE: 'false',
    MOOTHALL_KEY_PEPPERS: `1:${PEPPER.toString('base64')}`,
    MOOTHALL_ENCRYPTION_KEYS: `1:${randomBytes(32).toString('base64')}`,
    MOOTHALL_EGRESS_ALLOW: '127.0.0.0/8',
    MOOTHALL_MAX_SOCKETS_PER_ACTOR: '10000',
    MOOTHALL_MAX_STREAMS_PER_ACTOR: '10000',
    MOOTHALL_RATE_PERSON: '1000000',
    MOOTHALL_RATE_NOBODY: '1000000',
    MOOTHALL_RATE_AGENT: '1000000',
    MOOTHALL_RATE_COST: '100000000',
    MOOTHALL_DRAIN_DELAY: '0s',
    ...env,
  })
}
