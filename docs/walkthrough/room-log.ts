import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import type { Person } from './person.ts'
import { say } from './say.ts'

type Heard = { __typename: string; version: string | null }

/**
 * Somebody's view of a room: what its stream tells, in words, in the order of its versions. A frontend keeps the last
 * version it saw and asks for what came after it when it comes back.
 */
export class RoomLog<Event extends Heard> {
  readonly #inWords: (event: Event) => string | null
  readonly #end: () => void
  #version = 0n
  #waiting: { version: bigint; reached(): void } | undefined

  constructor(
    person: Person,
    document: TypedDocumentNode<{ roomEvents: Event }, { roomId: string }>,
    roomId: string,
    inWords: (event: Event) => string | null,
  ) {
    this.#inWords = inWords
    this.#end = person.follow(document, { roomId }, ({ roomEvents }) => this.#hear(roomEvents))
  }

  /** Waits until the stream has told everything up to a version, which each mutation in a room gives back. */
  async reaches(room: { version: string } | null | undefined): Promise<void> {
    const version = BigInt(room?.version ?? 0)
    if (this.#version >= version) return
    await new Promise<void>((reached) => {
      this.#waiting = { version, reached }
    })
  }

  close(): void {
    this.#end()
  }

  #hear(event: Event): void {
    if (event.version === null) return // who is connected, which changes without a version
    this.#version = BigInt(event.version)
    const words = this.#inWords(event)
    if (words !== null) say(`    ${words}`)
    if (this.#waiting && this.#version >= this.#waiting.version) this.#waiting.reached()
  }
}

/** Somebody's place in a room for as long as their stream is open: it makes them present. */
export class Seat {
  /** Resolves with the version at which they took it. */
  readonly taken: Promise<{ version: string }>
  readonly leave: () => void

  constructor(person: Person, document: TypedDocumentNode<{ roomEvents: Heard }, { roomId: string }>, roomId: string) {
    const { promise, resolve } = Promise.withResolvers<{ version: string }>()
    this.taken = promise
    this.leave = person.follow(document, { roomId }, ({ roomEvents: { version } }) => {
      if (version !== null) resolve({ version })
    })
  }
}
