import { type Config, readConfig } from '../config.ts'
import { createLog } from '../log.ts'
import { startServer } from '../server.ts'
import { GRAPHQL_PATH } from '../transport/http.ts'
import { type Command, RefusedError, type Terminal } from './command.ts'
import { type FirstOwner, makeFirstOrg } from './first-run.ts'

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
    try {
      const frontend = config.MOOTHALL_FRONTEND_URL || publicAddress(config, server.address)
      welcome(terminal, config, server.address, await makeFirstOrg(server, frontend))
    } catch (error) {
      await server.close()
      throw error
    }
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

/** The password is shown here and nowhere else, once. */
function welcome(terminal: Terminal, config: Config, address: string, owner: FirstOwner | null): void {
  const endpoint = `${publicAddress(config, address)}${GRAPHQL_PATH}`
  const lines = ['', `  Moothall serves ${endpoint}`]
  if (config.MOOTHALL_GRAPHIQL) lines.push('  Open it in a browser for GraphiQL.')
  if (owner) {
    lines.push(
      '',
      `  This is its first start, so there is an org "${owner.org}" with an owner:`,
      `    email     ${owner.email}`,
      `    password  ${owner.password}`,
      ...(owner.signInLink ? [`    or once   ${owner.signInLink}`] : []),
      '  The password is not shown again.',
    )
  }
  terminal.print([...lines, ''].join('\n'), { address, endpoint, ...(owner && { firstOwner: owner }) })
}

/** The public address where it leads here: cookies and origins are checked against it. */
function publicAddress({ MOOTHALL_PUBLIC_URL: publicUrl }: Config, address: string): string {
  const { port, origin, protocol } = new URL(publicUrl)
  return protocol === 'https:' || port === new URL(address).port ? origin : address
}
