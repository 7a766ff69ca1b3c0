import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ExecutionResult, GraphQLError } from 'graphql'
import { type ConnectionInitMessage, handleProtocols, makeServer } from 'graphql-ws'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Caller } from '../graphql/caller.ts'
import { isRequestError, requestError } from '../graphql/request-errors.ts'
import { streamsRefused } from '../lib/metrics.ts'
import type { AuthenticateSocket } from './authenticate-socket.ts'
import { maskError } from './masking.ts'
import { publicErrors, publicResult } from './result-json.ts'
import { type Touch, touchAside } from './session-use.ts'
import { CLOSE, Socket } from './socket.ts'
import { SocketOperations, type SocketOperationsOptions } from './socket-operations.ts'
import type { Streams } from './streams.ts'

/** PLAT-32 and PLAT-34: milliseconds, bytes, and how many at once. */
const BOUNDS = { pingEvery: 12_000, initWithin: 10_000, frame: 256 * 1024, messagesPerMinute: 600, operations: 50 }

export type WebSocketsOptions = SocketOperationsOptions & {
  path: string
  streams: Streams
  authenticate: AuthenticateSocket
  touch: Touch
  bounds?: Partial<typeof BOUNDS>
}

export type WebSockets = {
  readonly size: number
  /** Lets what runs come to its end and closes each socket (1012) once it is idle; resolves when all are gone. */
  drain(): Promise<void>
  /** Cuts off what is left. */
  close(): void
}

type Extra = { socket: Socket; caller?: Caller }

/**
 * GraphQL over WebSocket on the same server (graphql-transport-ws). Queries and mutations work as well as subscriptions;
 * everything goes through the plugins that HTTP goes through.
 */
export function attachWebSockets(server: Server, options: WebSocketsOptions): WebSockets {
  const { streams, authenticate, touch, log } = options
  const bounds = { ...BOUNDS, ...options.bounds }
  const operations = new SocketOperations(options)
  const sockets = new Set<Socket>()
  let gone = () => {}

  const acceptor = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    handleProtocols,
    maxPayload: bounds.frame,
    perMessageDeflate: false,
  })
  const protocol = makeServer<ConnectionInitMessage['payload'], Extra>({
    connectionInitWaitTimeout: bounds.initWithin,
    onConnect: ({ extra, connectionParams }) => connect(extra, connectionParams),
    onSubscribe: ({ extra }, id, payload) => {
      if (streams.draining) return [requestError('SHUTTING_DOWN')]
      if (extra.socket.working > bounds.operations) {
        streamsRefused.inc({ bound: 'operations' })
        return [requestError('RATE_LIMITED', { message: 'Too many operations at once on this socket.' })]
      }
      return operations.prepare(extra.socket, extra.caller as Caller, id, payload)
    },
    execute: (args) => operations.execute(args),
    subscribe: (args) => operations.subscribe(args),
    onNext: (_context, _id, _payload, _args, result) => publicResult(result as ExecutionResult),
    onError: (_context, _id, _payload, errors) =>
      publicErrors(errors.map((error) => maskError(error as GraphQLError, '', log))),
  })

  function upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    connection.on('error', () => {})
    if (request.url?.split('?', 1)[0] !== options.path) return refuse(connection, '404 Not Found')
    if (streams.draining) return refuse(connection, '503 Service Unavailable')
    acceptor.handleUpgrade(request, connection, head, accept)
  }

  function accept(peer: WebSocket, request: IncomingMessage): void {
    const socket = new Socket(peer, request, bounds.pingEvery)
    sockets.add(socket)
    let receive = async (_message: string): Promise<void> => {}
    const closed = protocol.opened(
      {
        protocol: peer.protocol,
        send: (message) => socket.send(message),
        close: (code = CLOSE.internal[0], reason = '') => socket.close([code, reason]),
        onMessage: (callback) => {
          receive = callback
        },
      },
      { socket },
    )
    peer.on('message', (message) => void take(socket, String(message), receive))
    peer.once('close', (code, reason) => {
      sockets.delete(socket)
      closed(code, String(reason)).catch((error: unknown) => log.error({ err: error }, 'closing a socket failed'))
      if (sockets.size === 0) gone()
    })
  }

  async function take(socket: Socket, message: string, receive: (message: string) => Promise<void>): Promise<void> {
    socket.heard()
    if (!socket.isOpen) return // sent before the peer knew
    if (!socket.admits(bounds.messagesPerMinute)) {
      streamsRefused.inc({ bound: 'messages' })
      return socket.close(CLOSE.tooMany)
    }
    socket.working += 1
    try {
      await receive(message)
    } catch (error) {
      log.error({ err: error }, 'a message broke its socket')
      socket.close(CLOSE.internal)
    } finally {
      socket.working -= 1
      closeIfDrained(socket)
    }
  }

  async function connect(extra: Extra, params: ConnectionInitMessage['payload']): Promise<boolean> {
    const { socket } = extra
    try {
      const { caller, endsAt } = await authenticate(
        socket.request,
        params?.['authorization'] ?? params?.['Authorization'],
      )
      if (!socket.isOpen) return false
      if (caller.standing === null) throw requestError('FORBIDDEN')
      const end = (reason: 'credential' | 'standing' | 'shutdown') => socket.close(CLOSE[reason])
      const registration = streams.register({ kind: 'socket', caller, need: 'standing', end })
      if (endsAt) registration.heldUntil(endsAt)
      socket.onClose(() => registration.release())
      extra.caller = caller
      touchAside(touch, caller, log, registration.heldUntil)
      return true
    } catch (error) {
      socket.close(closeCodeOf(error))
      return false
    }
  }

  function closeCodeOf(error: unknown): readonly [number, string] {
    const code = isRequestError(error) ? error.extensions['code'] : undefined
    if (code === 'UNAUTHENTICATED') return CLOSE.credential
    if (code === 'FORBIDDEN') return CLOSE.standing
    if (code === 'RATE_LIMITED') return CLOSE.tooMany
    if (code === 'SHUTTING_DOWN') return CLOSE.shutdown
    // Not knowing who calls is no reason to say that they are nobody (ID-1).
    log.error({ err: error }, 'a socket could not be authenticated')
    return CLOSE.tryAgain
  }

  function closeIfDrained(socket: Socket): void {
    if (streams.draining && socket.working === 0) socket.close(CLOSE.shutdown)
  }

  server.on('upgrade', upgrade)
  return {
    get size() {
      return sockets.size
    },
    async drain() {
      streams.drain()
      if (sockets.size === 0) return
      const allGone = new Promise<void>((resolve) => {
        gone = resolve
      })
      for (const socket of sockets) closeIfDrained(socket)
      await allGone
    },
    close() {
      server.off('upgrade', upgrade)
      for (const socket of sockets) socket.cut()
    },
  }
}

function refuse(connection: Duplex, status: string): void {
  connection.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}
