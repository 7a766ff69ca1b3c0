import type { IncomingMessage } from 'node:http'
import { GraphQLError } from 'graphql'
import type { GraphQLParams, Plugin } from 'graphql-yoga'
import { requestError } from '../../graphql/request-errors.ts'
import type { ServerContext } from './use-principal.ts'

/**
 * Reads what is asked for: a JSON object by POST, or the query string by GET. Nothing else is taken, so no form of another
 * site can make a request, no upload is parsed, and no list of operations comes in one body (PLAT-68).
 */
export function useRequestParameters(bodyMax: number): Plugin<object, ServerContext> {
  return {
    onRequestParse({ request, serverContext, setRequestParser }) {
      const { method } = request
      if (method === 'GET') setRequestParser(() => fromQueryString(request.url))
      if (method !== 'POST') return
      const type = mediaType(request.headers.get('content-type'))
      if (type !== 'application/json') throw unsupported()
      setRequestParser(async () => fromJson(await readText(serverContext.req, bodyMax)))
    },
  }
}

function mediaType(header: string | null): string | undefined {
  return header?.split(';', 1)[0]?.trim().toLowerCase()
}

const bad = (message: string) => requestError('BAD_REQUEST', { message })

function unsupported(): GraphQLError {
  return new GraphQLError('A request body must be application/json.', {
    extensions: { code: 'BAD_REQUEST', http: { status: 415 } },
  })
}

function fromQueryString(url: string): GraphQLParams {
  const at = url.indexOf('?')
  const given = new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
  const text = (name: string) => given.get(name) ?? undefined
  const json = (name: string) => {
    const value = given.get(name)
    return value ? fromJson(value) : undefined
  }
  return {
    query: text('query'),
    operationName: text('operationName'),
    variables: json('variables'),
    extensions: json('extensions'),
  } as GraphQLParams
}

function fromJson(text: string): GraphQLParams {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw bad('The request is not valid JSON.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw bad('The request must be one JSON object.')
  const { operationName } = value as { operationName?: unknown }
  if (operationName != null && typeof operationName !== 'string') throw bad('The operationName must be a string.')
  return value as GraphQLParams
}

/** Counts what really arrives, since a chunked body declares no length. What is left of a refused one is thrown away unread. */
function readText(request: IncomingMessage, max: number): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > max) throw requestError('PAYLOAD_TOO_LARGE')
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const chunks: Buffer[] = []
  let size = 0
  request.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= max) chunks.push(chunk)
    else reject(requestError('PAYLOAD_TOO_LARGE'))
  })
  request.once('end', () => {
    try {
      resolve(UTF8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
    } catch {
      reject(bad('The request is not valid UTF-8.'))
    }
  })
  request.once('error', () => reject(bad('The request broke off.')))
  request.once('close', () => {
    if (!request.complete) reject(bad('The request broke off.'))
  })
  return promise
}

const UTF8 = new TextDecoder('utf-8', { fatal: true })
