import type { Answer, GraphqlError } from '../support/client.ts'
import { PLANTED } from './bad-values.ts'
import type { Outcome } from './perform.ts'

/** Codes that a caller can act on (PLAT-62); INTERNAL is none of them. */
export const TOP_LEVEL = [
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'BAD_REQUEST',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'QUERY_TOO_COMPLEX',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMITED',
  'NOT_FOUND',
]

/** What only our side should see: places in the source, SQL, names of the database's things, libraries. */
const INSIDES =
  /\bat (\S+ )?\(?(file:|node:|\/)|node_modules|\/src\/|\.ts\b|\b(SELECT|INSERT INTO|UPDATE \w+\.|DELETE FROM)\b|violates|constraint "|relation "|Prisma|SQLSTATE|invalid byte|22P0|ECONN|zod|Zod/

type Shown = Pick<GraphqlError, 'message'> & { extensions?: { code?: string; issues?: unknown } }

/** What is wrong with a refusal over HTTP; null when it is as it must be. */
export function faultOfAnswer(status: number, text: string): string | null {
  if (status >= 500) return `HTTP ${status}: ${text.slice(0, 200)}`
  const told = INSIDES.exec(text)
  return told ? `tells of “${told[0]}”` : null
}

/** What is wrong with the errors of a document that had to be refused. */
export function faultOfErrors(errors: readonly Shown[] | undefined, value: unknown): string | null {
  if (!errors || errors.length === 0) return 'is not refused'
  for (const { message, extensions } of errors) {
    if (!TOP_LEVEL.includes(extensions?.code ?? '')) return `is answered with ${extensions?.code}: ${message}`
    if (extensions?.issues !== undefined && echoes([message, extensions.issues], value)) return 'is echoed'
  }
  return null
}

/** What is wrong with a mutation's answer that had to be an error of its union. */
export function faultOfOutcome(outcome: Outcome | null | undefined, { errors }: Answer, value: unknown): string | null {
  if (!outcome) return faultOfErrors(errors, value)
  if (!outcome.__typename.endsWith('Error')) return `is taken: ${outcome.__typename}`
  if (outcome.code === 'INVALID_INPUT' && !outcome.issues?.every(({ path }) => path[0] === 'input')) {
    return `does not name its argument: ${JSON.stringify(outcome.issues)}`
  }
  return echoes(outcome, value) ? 'is echoed' : null
}

function echoes(shown: unknown, value: unknown): boolean {
  const text = JSON.stringify(shown)
  if (text.includes(PLANTED)) return true
  return typeof value === 'string' && value.length > 6 && text.includes(JSON.stringify(value).slice(1, -1))
}
