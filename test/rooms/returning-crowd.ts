import { WebSocket } from 'ws'

/** What of an event decides anything here. */
type Told = { __typename: string; version: string | null }

const DOCUMENT = `subscription ($roomId: ID!, $sinceVersion: BigInt) {
  roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) { __typename version actor { id } ... on VoteCast { userId } }
}`

/** Follows a room over a socket of its own, as often as it is opened, and keeps in mind what it heard. */
export class Member {
  /** Of everything that has one, in the order it came. */
  readonly versions: number[] = []
  snapshots = 0
  readonly faults: string[] = []
  readonly #token: string
  readonly #roomId: string
  #socket: WebSocket | undefined

  constructor(token: string, roomId: string) {
    this.#token = token
    this.#roomId = roomId
  }

  get connected(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN
  }

  /** Goes on behind the last version heard. Resolves when the server has taken the subscription. */
  open(url: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws')
    this.#socket = socket
    const variables = { roomId: this.#roomId, sinceVersion: this.versions.at(-1)?.toString() }
    const send = (message: object) => socket.send(JSON.stringify(message))
    socket.once('open', () => send({ type: 'connection_init', payload: { authorization: `Bearer ${this.#token}` } }))
    socket.on('message', (bytes) => {
      const { type, payload } = JSON.parse(String(bytes))
      if (type === 'connection_ack') {
        send({ id: '1', type: 'subscribe', payload: { query: DOCUMENT, variables } })
        // Answered after what came before it: the subscription is on its way, and the next may come.
        send({ type: 'ping' })
      } else if (type === 'pong') resolve()
      else if (type === 'next' && payload.data) this.#hear(payload.data.roomEvents)
      else if (type !== 'ping') this.faults.push(String(bytes))
    })
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('closed')))
    return promise
  }

  close(): void {
    this.#socket?.terminate()
  }

  #hear({ __typename, version }: Told): void {
    if (__typename === 'RoomSnapshot') this.snapshots += 1
    if (version !== null) this.versions.push(Number(version))
  }
}

/** Everybody, some at once. */
export async function openAll(members: readonly Member[], url: string, atOnce = 50): Promise<void> {
  const waiting = members.values()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const member of waiting) await member.open(url)
    }),
  )
}
