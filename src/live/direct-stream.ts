import type { DocumentNode } from 'graphql'
import type { Context } from '../graphql/context.ts'

/** One subscriber's end of a transport: takes execution results that are JSON already. */
export type Sink = {
  /** Sends one result. Never blocks; what the peer has not taken yet counts as `unsent`. */
  send(json: string): void
  /** Bytes handed over and not yet taken by the socket. */
  readonly unsent: number
  /** Resolves when nothing is unsent, or when the sink has closed. */
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
  /** Releases everything; idempotent. */
  abstract close(): void;

  // graphql-js asks a source to be iterable; nobody iterates this one.
  async *[Symbol.asyncIterator](): AsyncGenerator<never> {}
}
