import { chown } from 'node:fs/promises'
import { type Service, startService, versionOf } from './service.ts'

/** Null where there is no Redis to test with. */
export const redisVersion = versionOf('redis-server')

export type TestRedis = Service & { readonly url: string }

/** A real Redis with a password, keeping nothing on disk. */
export async function startRedis(): Promise<TestRedis> {
  const service = await startService('redis-server', async ({ port, dir, account }) => {
    if (account.uid && account.gid) await chown(dir, account.uid, account.gid)
    return [
      '--port',
      `${port}`,
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      '--dir',
      dir,
      '--requirepass',
      PASSWORD,
    ]
  })
  return { ...service, url: `redis://:${PASSWORD}@127.0.0.1:${service.port}/0` }
}

const PASSWORD = 'canary-redis-password'
