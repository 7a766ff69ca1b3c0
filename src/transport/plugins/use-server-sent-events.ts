import type { ServerResponse } from 'node:http'
import type { ExecutionResult } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { EventStream } from '../event-stream.ts'
import { OUTLET } from '../outlet.ts'

const PING_EVERY = 12_000

type Streaming = { res?: ServerResponse; [OUTLET]?: EventStream }
type Results = AsyncIterable<ExecutionResult>

/**
 * Subscriptions over `accept: text/event-stream` (PLAT-32): pings whether or not events flow, and nothing that was opened
 * for a peer outlives it, not even a `subscribe` still pending.
 */
export function useServerSentEvents({
  pingEvery = PING_EVERY,
}: {
  pingEvery?: number
} = {}): Plugin<object, Streaming> {
  return {
    onParams({ context, request }) {
      if (accepts(request, 'text/event-stream'))
        (context as Streaming)[OUTLET] = new EventStream((context as Streaming).res)
    },
    onResultProcess({ request, result, serverContext, setResultProcessor }) {
      const stream = serverContext?.[OUTLET]
      // One result is JSON to those who take that too; a stream of them is for those who asked for one.
      if (!stream || (!isResults(result) && accepts(request, 'json'))) return
      setResultProcessor((answer, fetchAPI) => {
        stream.start(isResults(answer) ? answer : once(answer as ExecutionResult), pingEvery)
        return new fetchAPI.Response(stream.body as never, { status: statusOf(answer), headers: headersOf(answer) })
      }, 'text/event-stream')
    },
  }
}

function accepts(request: Request, type: string): boolean {
  return request.headers.get('accept')?.toLowerCase().includes(type) ?? false
}

function isResults(result: object): result is Results {
  return Symbol.asyncIterator in result
}

async function* once(result: ExecutionResult): AsyncGenerator<ExecutionResult> {
  yield result
}

type HttpHints = { status?: number; spec?: boolean; headers?: Record<string, string> }

function hintsOf(result: object): HttpHints[] {
  const { errors = [] } = result as ExecutionResult
  return errors.map(({ extensions }) => (extensions?.['http'] ?? {}) as HttpHints).filter(({ spec }) => !spec)
}

/** As for JSON: what fails before anything ran says so in its status (PLAT-62). */
function statusOf(result: object): number {
  return Math.max(200, ...hintsOf(result).map(({ status = 200 }) => status))
}

function headersOf(result: object): Record<string, string> {
  return Object.assign(
    {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      connection: 'keep-alive',
    },
    ...hintsOf(result).map(({ headers }) => headers ?? {}),
  )
}
