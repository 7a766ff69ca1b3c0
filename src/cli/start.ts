import { readConfig } from '../config.ts'
import { createLog } from '../log.ts'
import { startServer } from '../server.ts'
import { GRAPHQL_PATH } from '../transport/http.ts'
import { type Command, RefusedError, type Terminal } from './command.ts'

/** Serves until it is told to stop: the first signal drains, the second ends at once (PLAT-74). */
export const command: Command = {
  options: {},
  async run(_values, terminal) {
    const config = readConfig()
    const log = createLog(config, process.stderr)
    const stopped = firstSignal()
    const server = await startServer(config, log).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EADDRINUSE'
        ? new RefusedError(`Port ${config.PORT} is taken: set PORT to another one.`)
        : error
    })
    welcome(terminal, { address: server.address, graphiql: config.MOOTHALL_GRAPHIQL })
    const signal = await stopped
    log.info({ signal }, 'draining')
    await server.close()
    log.info('stopped')
  },
}

/** The next one after it ends the process whatever still runs. */
function firstSignal(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, () => {
      for (const next of ['SIGTERM', 'SIGINT']) process.once(next, () => process.exit(1))
      resolve(signal)
    })
  }
  return promise
}

function welcome(terminal: Terminal, { address, graphiql }: { address: string; graphiql: boolean }): void {
  const endpoint = `${address}${GRAPHQL_PATH}`
  const lines = ['', `  Moothall serves ${endpoint}`, ...(graphiql ? ['  Open it in a browser for GraphiQL.'] : []), '']
  terminal.print(lines.join('\n'), { endpoint })
}
