/** What we use of it; it brings no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>
  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): Handler
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
      options: object,
    ): Promise<void>
    on(event: string, listener: (...args: unknown[]) => void): void
  }
}
