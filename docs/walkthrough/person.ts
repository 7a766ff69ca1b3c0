import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { Client, fetchExchange, subscriptionExchange } from '@urql/core'
import type { DocumentNode } from 'graphql'
import { createClient, type Client as SocketClient } from 'graphql-ws'
import { WebSocket } from 'ws'

type Error = { __typename: string; code: string; message: string }

/** One person at the server, as a frontend is for whoever sits in front of it: HTTP for what they do, a socket for what they follow. */
export class Person {
  readonly name: string
  readonly id: string
  readonly #client: Client
  readonly #socket: SocketClient

  constructor(server: string, user: { id: string; displayName: string }, token?: string) {
    this.name = user.displayName
    this.id = user.id
    const authorization = token && `Bearer ${token}`
    this.#socket = createClient({
      url: `${server.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization },
    })
    const overSocket = subscriptionExchange({
      forwardSubscription: ({ query = '', ...rest }) => ({
        subscribe: (sink) => ({ unsubscribe: this.#socket.subscribe({ ...rest, query }, sink as never) }),
      }),
    })
    this.#client = new Client({
      url: `${server}/graphql`,
      exchanges: [fetchExchange, overSocket],
      preferGetMethod: false,
      ...(authorization && { fetchOptions: { headers: { authorization } } }),
    })
  }

  /** Reads something, or does it; with what cuts across as an exception. */
  async ask<Data, Variables extends object>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
  ): Promise<Data> {
    const does = isMutation(document) ? this.#client.mutation : this.#client.query
    const { data, error } = await does.call(this.#client, document as DocumentNode, variables as never).toPromise()
    if (error) throw error
    return data as Data
  }

  /** Calls back for each event, until it is ended. */
  follow<Data, Variables extends object>(
    document: TypedDocumentNode<Data, Variables>,
    variables: Variables,
    hear: (data: Data) => void,
  ): () => void {
    const { unsubscribe } = this.#client
      .subscription(document as DocumentNode, variables as never)
      .subscribe(({ data, error }) => {
        if (error) throw error
        hear(data as Data)
      })
    return unsubscribe
  }

  leave(): void {
    void this.#socket.dispose()
  }
}

/** The payload of a mutation. What was refused ends the walk and says why. */
export function granted<Answer extends { __typename: string }>(
  answer: Answer | null | undefined,
): Extract<Answer, { __typename: `${string}Payload` }> {
  if (answer?.__typename.endsWith('Payload')) return answer as never
  const { code, message } = answer as unknown as Error
  throw new TypeError(`${code}: ${message}`)
}

/** What must be there for the walk to go on. */
export function present<Value>(value: Value | null | undefined): Value {
  if (value == null) throw new TypeError('something that was just made is not there')
  return value
}

const isMutation = ({ definitions }: DocumentNode) =>
  definitions.some((definition) => definition.kind === 'OperationDefinition' && definition.operation === 'mutation')
