import { Counter, Gauge, Histogram, Registry } from 'prom-client'

/**
 * What the process counts about itself, all of it, so that every layer may count and a reader finds each name here. A
 * label takes one of few values known beforehand (a kind, a code, a state), never an id, slug, address or name that
 * somebody chose: those would tell of tenants, and make series without end (PLAT-73).
 */
export const registry = new Registry()

const counter = <L extends string = never>(name: string, help: string, ...labelNames: L[]) =>
  new Counter<L>({ name: `moothall_${name}`, help, labelNames, registers: [registry] })

/** Seconds: from what memory answers to what a statement may take at most. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15]

/** GraphQL operations by what was asked (`query`, `mutation`, `subscription`, `none`) and the code it ended with, `OK` or an error's. */
export const operationSeconds = new Histogram({
  name: 'moothall_operation_duration_seconds',
  help: 'Time to answer GraphQL operations; for subscriptions, to open them.',
  labelNames: ['kind', 'code'],
  buckets: DURATIONS,
  registers: [registry],
})

export const operationRetries = counter('operation_retries_total', 'Writes run again after a deadlock or conflict.')
export const poolExhausted = counter('database_pool_exhausted_total', 'Operations that got no database connection.')
export const rowSecurityRefused = counter(
  'row_security_refused_total',
  'ALARM: statements refused by row security, which means a hole or a bug.',
)

export const framesRendered = counter('frames_rendered_total', 'Events rendered for streams.')
export const framesSent = counter('frames_sent_total', 'Events sent to streams.')
export const frameBytes = counter('frame_bytes_total', 'Characters of the events sent to streams.')
export const streamsCollapsed = counter('streams_collapsed_total', 'Slow streams that were set back to a snapshot.')
export const streamsRefused = counter('streams_refused_total', 'Streams and sockets refused by a bound.', 'bound')

export const hintsSent = counter('hints_sent_total', 'Hints to other processes, by their way.', 'way')
export const hintsMalformed = counter('hints_malformed_total', 'Hints that this version does not understand.')

export const toolCallsUnrecorded = counter('tool_calls_unrecorded_total', 'Tool calls of agents that the log lacks.')

export const rateLimited = counter('rate_limited_total', 'Requests refused by a rate limit.', 'kind')
export const limiterFailures = counter(
  'rate_limit_store_failures_total',
  'Rate limits that could not be counted.',
  'kind',
)

export const sweepFailures = counter('sweep_failures_total', 'Rounds of background work that failed.', 'sweep')
export const queueClaims = counter('queue_claims_total', 'Units of queued work that were claimed.', 'kind')
/** `outcome`: done, retry, dead. */
export const queueOutcomes = counter(
  'queue_outcomes_total',
  'How claimed units of queued work ended.',
  'kind',
  'outcome',
)

type Reading = number | Record<string, number>

const gauges = new Map<string, () => Reading>()

/**
 * A figure that is read when somebody asks, or one for each value of a label. Said again under the same name it takes the
 * place of the one before.
 */
export function observe(name: string, help: string, read: () => Reading, label?: string): void {
  const known = gauges.has(name)
  gauges.set(name, read)
  if (known) return
  new Gauge<string>({
    name: `moothall_${name}`,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [registry],
    collect() {
      const reading = (gauges.get(name) as () => Reading)()
      if (typeof reading === 'number') return this.set(reading)
      for (const [value, figure] of Object.entries(reading)) this.set({ [label as string]: value }, figure)
    },
  })
}
