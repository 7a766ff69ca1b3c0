import { once } from 'node:events'
import type { WebSocket } from 'ws'
import { connected } from './socket-load.ts'

export type Person = { id: string; token: string }

/** What of an event decides anything here. */
export type Told = { __typename: string; version: string | null; userId?: string; roundVersion?: string }

type Message = {
  id: string
  type: string
  payload: { data?: { roomEvents: Told } & Record<string, Outcome>; errors?: unknown }
}
type Outcome = { __typename: string; code?: string; message?: string }

const STREAM = '1'

/** One person with one socket that speaks graphql-transport-ws: follows a room and changes it. Misses no version and hears none twice. */
export class Seat {
  readonly person: Person
  readonly #hear: (told: Told, bytes: number) => void
  readonly #answers = new Map<string, PromiseWithResolvers<void>>()
  #socket!: WebSocket
  #version: number | undefined
  #asked = 1

  constructor(person: Person, hear: (told: Told, bytes: number) => void) {
    this.person = person
    this.#hear = hear
  }

  /** Until the first event, the room as it is. */
  async open(url: string, query: string, variables: object): Promise<void> {
    this.#socket = await connected(url, 'graphql-transport-ws')
    const acknowledged = once(this.#socket, 'message')
    this.#send({ type: 'connection_init', payload: { authorization: `Bearer ${this.person.token}` } })
    await acknowledged
    const first = once(this.#socket, 'message')
    this.#socket.on('message', (bytes: Buffer) => this.#receive(bytes))
    this.#socket.on('close', (code, reason) => {
      for (const answer of this.#answers.values()) answer.reject(new Error(`a socket was closed: ${code} ${reason}`))
    })
    this.#send({ id: STREAM, type: 'subscribe', payload: { query, variables } })
    await first
    if (this.#version === undefined) throw new Error('the stream began with no snapshot')
  }

  /** One mutation, answered with its payload. */
  ask(query: string, input: object): Promise<void> {
    const id = `${++this.#asked}`
    const answer = Promise.withResolvers<void>()
    this.#answers.set(id, answer)
    this.#send({ id, type: 'subscribe', payload: { query, variables: { input } } })
    return answer.promise
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.terminate()
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message))
  }

  #receive(bytes: Buffer): void {
    const { id, type, payload } = JSON.parse(bytes.toString()) as Message
    if (id === STREAM && type === 'next' && payload.data) return this.#follow(payload.data.roomEvents, bytes.length)
    if (type === 'complete') return
    const answer = this.#answers.get(id)
    const [outcome] = Object.values(payload?.data ?? {})
    if (answer && type === 'next' && outcome?.__typename.endsWith('Payload')) answer.resolve()
    else answer?.reject(new Error(`${this.person.id} got ${bytes}`))
    this.#answers.delete(id)
    if (!answer) throw new Error(`${this.person.id} got ${bytes}`)
  }

  #follow(told: Told, bytes: number): void {
    if (told.version !== null) {
      const version = Number(told.version)
      const due = this.#version === undefined ? told.__typename === 'RoomSnapshot' : version === this.#version + 1
      if (!due) throw new Error(`version ${version} ${told.__typename} came after ${this.#version}`)
      this.#version = version
    }
    this.#hear(told, bytes)
  }
}
