import { type ExecutionArgs, type ExecutionResult, getOperationAST, OperationTypeNode } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Logger } from 'pino'
import type { Context, CookieJar } from '../../graphql/context.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { type Answer, fingerprintOf, runOnce, treatsItsRetries } from '../../platform/index.ts'
import { publicResult } from '../result-json.ts'
import type { ServerContext } from './use-principal.ts'
import { holdsSomething } from './use-response-status.ts'

export type IdempotencyOptions = {
  /** Milliseconds for which an answer is kept. */
  ttl: number
  log: Logger
}

type Execute = (args: ExecutionArgs) => unknown
/** Over HTTP there is a request; a socket's operation has parameters alone. */
type Asked = Context & Partial<ServerContext> & { request?: Request; params?: { extensions?: Record<string, unknown> } }
type Cookie = Parameters<CookieJar['set']>

const KEY = /^[\x21-\x7e]{1,128}$/
const HEADER = 'idempotency-key'
const REPLAYED = 'idempotency-replayed'
/** What an error may say about its answer beside the body (PLAT-52). */
const KEPT_HEADERS = ['retry-after']

/**
 * Lets a document of mutations be sent again under its key without taking effect again (PLAT-49 to 54). Stands around all
 * that executing costs, so a replay spends nothing of it.
 */
export function useIdempotency({ ttl, log }: IdempotencyOptions): Plugin<Context> {
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      const context = args.contextValue as Asked
      const { caller } = context
      const operation = getOperationAST(args.document, args.operationName)
      if (operation?.operation !== OperationTypeNode.MUTATION || !caller) return
      const key = keyOf(context)
      if (key === undefined || treatsItsRetries(args.document, operation)) return
      const { document, operationName, variableValues: variables } = args
      const fingerprint = fingerprintOf({ document, operationName, variables })
      const keyed = { caller, key, fingerprint, ttl, log: log.child({ requestId: context.requestId }) }
      setExecuteFn((args: ExecutionArgs) => execute(args, executeFn as Execute, keyed))
    },
  }
}

function keyOf({ request, params }: Asked): string | undefined {
  const given = request ? request.headers.get(HEADER) : params?.extensions?.['idempotencyKey']
  if (given === null || given === undefined) return undefined
  if (typeof given === 'string' && KEY.test(given)) return given
  throw requestError('BAD_REQUEST', { message: 'An idempotency key has 1 to 128 visible ASCII characters.' })
}

async function execute(
  args: ExecutionArgs,
  run: Execute,
  keyed: Parameters<typeof runOnce>[0],
): Promise<ExecutionResult> {
  const context = args.contextValue as Asked
  let result: ExecutionResult | undefined
  const answer = await runOnce(keyed, async (effects) => {
    const cookies: Cookie[] = []
    const contextValue = Object.assign(context, { effects, cookies: recorded(context.cookies, cookies) })
    result = (await run({ ...args, contextValue })) as ExecutionResult
    return { answer: answerOf(result, cookies), failed: (result.errors?.length ?? 0) > 0 }
  })
  return answer ? replayOf(answer, context) : result!
}

function recorded(jar: CookieJar | null, cookies: Cookie[]): CookieJar | null {
  if (!jar) return null
  return {
    set(...cookie) {
      cookies.push(cookie)
      jar.set(...cookie)
    },
  }
}

/** Cookies are secrets and go where the body goes. */
function answerOf(result: ExecutionResult, cookies: Cookie[]): Answer {
  const hints = holdsSomething(result.data) ? [] : (result.errors ?? []).map(({ extensions }) => extensions['http'])
  const all = hints.filter((hint) => hint !== undefined) as { status?: number; headers?: Record<string, string> }[]
  return {
    status: Math.max(200, ...all.map(({ status = 200 }) => status)),
    headers: Object.fromEntries(
      all.flatMap(({ headers = {} }) => Object.entries(headers).filter(([name]) => KEPT_HEADERS.includes(name))),
    ),
    body: JSON.stringify({ result: publicResult(result), cookies }),
  }
}

function replayOf({ status, headers, body }: Answer, { res, cookies }: Asked): ExecutionResult {
  const kept = JSON.parse(body) as { result: ExecutionResult; cookies: Cookie[] }
  for (const cookie of kept.cookies) cookies?.set(...cookie)
  res?.setHeader(REPLAYED, 'true')
  return {
    ...kept.result,
    extensions: { ...kept.result.extensions, replayed: true, http: { status, headers } },
  }
}
