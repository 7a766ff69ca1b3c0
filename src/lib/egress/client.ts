import type { LookupFunction } from 'node:net'
import { Agent, type Dispatcher, request } from 'undici'
import { Addresses } from './addresses.ts'
import { EgressError, egressErrorOf } from './errors.ts'
import { boundedResolve, type Resolve, resolveAll } from './resolve.ts'
import { literalOf, receiverUrl } from './url.ts'

export type EgressOptions = {
  /** Ranges of the operator's own receivers, in CIDR notation. */
  allow: readonly string[]
  /** Milliseconds to a connection, the name's resolution included. */
  connectTimeout?: number
  resolve?: Resolve
}

export type EgressRequest = {
  url: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers: Record<string, string>
  body?: Uint8Array | string
  /** Milliseconds for all of it. */
  timeout: number
  /** Of the answer no more than so many bytes are read. */
  maxBytes: number
  signal?: AbortSignal
}

export type EgressAnswer = {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** Its beginning, where it is longer than asked for. */
  body: Buffer
}

const CONNECT_TIMEOUT = 3_000

/**
 * The one client for addresses that callers give (PLAT-48). It reaches public addresses and those the operator allows:
 * what is in the URL is looked at before, what a name resolves to while connecting, so a name cannot change in between.
 * It follows no redirect, asks no proxy and keeps no connection, which would be reused unlooked at.
 */
export class Egress {
  readonly #addresses: Addresses
  readonly #resolve: Resolve
  readonly #agents: Readonly<Record<'https:' | 'http:', Agent>>

  constructor({ allow, connectTimeout = CONNECT_TIMEOUT, resolve = resolveAll }: EgressOptions) {
    this.#addresses = new Addresses(allow)
    this.#resolve = boundedResolve(resolve, connectTimeout)
    const agent = (protocol: string) =>
      new Agent({
        connect: { lookup: this.#lookup(protocol), timeout: connectTimeout },
        connectTimeout,
        pipelining: 0,
        headersTimeout: 0, // one bound is on the whole
        bodyTimeout: 0,
      })
    this.#agents = { 'https:': agent('https:'), 'http:': agent('http:') }
  }

  /**
   * Whether a receiver may stand at this address, as far as can be told now: a name that does not resolve yet may. Throws
   * EgressError, and null is no address at all.
   */
  async check(text: string): Promise<URL | null> {
    const url = receiverUrl(text)
    if (!url) return null
    const literal = literalOf(url)
    if (literal !== null) this.#require(url.protocol, [literal])
    else {
      const found = await this.#resolve(url.hostname).catch(() => [])
      this.#require(
        url.protocol,
        found.map(({ address }) => address),
      )
    }
    return url
  }

  /** One exchange. Throws EgressError where there is no answer. */
  async request({ url: text, timeout, maxBytes, signal, ...rest }: EgressRequest): Promise<EgressAnswer> {
    const url = receiverUrl(text)
    const literal = url && literalOf(url)
    if (!url || (literal !== null && !this.#permits(url.protocol, literal))) throw new EgressError('address')
    const bounds = [AbortSignal.timeout(timeout), ...(signal ? [signal] : [])]
    try {
      const dispatcher: Dispatcher = this.#agents[url.protocol as 'https:' | 'http:']
      const answer = await request(url, { ...rest, dispatcher, signal: AbortSignal.any(bounds) })
      const body = await beginningOf(answer.body, maxBytes)
      return { status: answer.statusCode, headers: answer.headers, body }
    } catch (error) {
      throw egressErrorOf(error)
    }
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#agents).map((agent) => agent.destroy()))
  }

  /** Without TLS only to receivers inside. */
  #permits(protocol: string, address: string): boolean {
    return protocol === 'https:' ? this.#addresses.isAllowed(address) : this.#addresses.isInside(address)
  }

  /** One bad address bars the name: which of them a connection takes is chance. */
  #require(protocol: string, addresses: readonly string[]): void {
    if (!addresses.every((address) => this.#permits(protocol, address))) throw new EgressError('address')
  }

  #lookup(protocol: string): LookupFunction {
    return (hostname, { all }, answer) => {
      const resolved = this.#resolve(hostname).then((found) => {
        if (found.length === 0) throw new EgressError('name')
        this.#require(
          protocol,
          found.map(({ address }) => address),
        )
        return [...found]
      })
      resolved.then(
        (found) => (all ? answer(null, found as never) : answer(null, found[0]!.address, found[0]!.family)),
        (error) => answer(error, ''),
      )
    }
  }
}

async function beginningOf(stream: Dispatcher.ResponseData['body'], maxBytes: number): Promise<Buffer> {
  stream.on('error', () => {}) // the rest of what is cut off
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length >= maxBytes) break // ends the connection
  }
  return Buffer.concat(chunks).subarray(0, maxBytes)
}
