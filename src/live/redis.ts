import { Redis, type RedisOptions } from 'ioredis'

const CONNECT_TIMEOUT = 1_000
/** A Redis that has not answered for so long counts as failing. */
const ANSWER_TIMEOUT = 1_000
/** A connection on which nothing comes for so long after something was asked is made anew. */
const SILENCE = 2_000
const BACKOFF_MIN = 200
const BACKOFF_MAX = 5_000

/** The two connections of a process: one that listens takes no other commands. */
export type RedisConnections = {
  readonly commands: Redis
  readonly subscriber: Redis
  close(): Promise<void>
}

/** Connects, and keeps connecting: a Redis that is away is waited for, and what needs it is refused meanwhile. */
export function openRedis(url: string, onFault: (error: Error) => void): RedisConnections {
  const shared: RedisOptions = {
    connectTimeout: CONNECT_TIMEOUT,
    socketTimeout: SILENCE,
    disconnectTimeout: CONNECT_TIMEOUT,
    connectionName: 'moothall',
    retryStrategy: (attempt) => Math.min(BACKOFF_MAX, BACKOFF_MIN * 2 ** (attempt - 1) * (1 + Math.random() / 4)),
  }
  const commands = new Redis(url, {
    ...shared,
    commandTimeout: ANSWER_TIMEOUT,
    // Who asks is told at once that there is no connection, rather than wait for one.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  })
  // Subscriptions are kept for the next connection, however long that takes.
  const subscriber = new Redis(url, { ...shared, maxRetriesPerRequest: null })
  for (const connection of [commands, subscriber]) connection.on('error', onFault)
  return {
    commands,
    subscriber,
    async close() {
      // What was published before is out when this is answered.
      await commands.quit().catch(() => commands.disconnect())
      subscriber.disconnect()
    },
  }
}
