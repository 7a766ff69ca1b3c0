import type { TypedDocumentNode } from '@graphql-typed-document-node/core'
import { print } from 'graphql'

export type GraphqlError = {
  message: string
  path?: (string | number)[]
  extensions: { code?: string; issues?: unknown; requestId?: string }
}
// biome-ignore lint/suspicious/noExplicitAny: documents written as text have no type
export type Answer<Data = any> = { data?: Data | null; errors?: GraphqlError[]; extensions?: Record<string, unknown> }

/** A caller over HTTP: real requests, so headers, cookies and status codes are the server's. */
export class GraphqlClient {
  readonly url: string
  readonly token: string | undefined

  constructor(url: string, token?: string) {
    this.url = url
    this.token = token
  }

  /** The whole answer, errors included. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  async send<Data = any, Variables = unknown>(
    document: string | TypedDocumentNode<Data, Variables>,
    variables?: Variables,
    headers: Record<string, string> = {},
  ): Promise<Answer<Data>> {
    return (await this.post(document, variables, headers)).json() as Promise<Answer<Data>>
  }

  /** The data; fails on any top-level error. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  async run<Data = any, Variables = unknown>(
    document: string | TypedDocumentNode<Data, Variables>,
    variables?: Variables,
  ): Promise<Data> {
    const { data, errors } = await this.send(document, variables)
    if (errors) throw new Error(errors.map(({ message, extensions }) => `${extensions.code}: ${message}`).join('; '))
    return data as Data
  }

  post<Data, Variables>(
    document: string | TypedDocumentNode<Data, Variables>,
    variables?: Variables,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const query = typeof document === 'string' ? document : print(document)
    return fetch(this.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, application/json',
        ...(this.token && { authorization: `Bearer ${this.token}` }),
        ...headers,
      },
      body: JSON.stringify({ query, variables }),
    })
  }
}
