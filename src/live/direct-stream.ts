import type { DocumentNode } from 'graphql'
import type { Context } from '../graphql/context.ts'

/** Bytes a peer may be behind before its stream stops and starts over with a snapshot (PLAT-34). */
export const UNSENT_MAX = 1_048_576

/** One subscriber's end of a transport: takes execution results that are JSON already. */
export type Sink = {
  /**
   * Sends one result and never blocks. False: nothing was sent, because the peer is more than UNSENT_MAX behind or gone;
   * wait for `drained` and go on with a snapshot.
   */
  send(json: string): boolean
  /**
   * Bytes that the socket has not taken yet. A result that went out on an empty line does not count, so the snapshot that
   * a slow peer still reads is no reason to send it the next one.
   */
  readonly unsent: number
  /** Resolves when the peer has caught up, or when the sink has closed. */
  drained(): Promise<void>
  /** Ends the stream, with a last result holding errors where there is a reason to give. */
  end(json?: string): void
}

export type Subscriber = {
  readonly document: DocumentNode
  readonly operationName: string | undefined
  readonly variables: Record<string, unknown>
  /** As at subscribe; its caller is the stream's. */
  readonly context: Context
  readonly sink: Sink
}

/**
 * What a subscription resolver returns when it renders for many at once: the transport hands it a sink instead of pulling
 * results, so one rendering serves every subscriber of its kind (DESIGN §3, shared frames).
 */
export abstract class DirectStream implements AsyncIterable<never> {
  /** Begins delivery. Called once; `close` may come before it has returned. */
  abstract open(subscriber: Subscriber): Promise<void>
  /** Releases everything; idempotent, also called when `open` never was. */
  abstract close(): void

  // graphql-js asks a source to be iterable; nobody iterates this one.
  async *[Symbol.asyncIterator](): AsyncGenerator<never> {}
}
