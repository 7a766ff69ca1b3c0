import { parseArgs } from 'node:util'

export type Scale = {
  /** Interleaved rounds; each contender runs once in each. */
  rounds: number
  /** Requests of one contender in one round, and as many before the first. */
  requests: number
  /** WebSocket subscribers of the fan-out. */
  subscribers: number
  /** Events of one contender in one round of the fan-out. */
  events: number
}

export type Options = Scale & {
  json: boolean
  /** Only these cases; empty: all. */
  cases: string[]
  /** Where the product writes its CPU profile when it ends. */
  profile: string | undefined
}

const FULL: Scale = { rounds: 7, requests: 2_000, subscribers: 5_000, events: 40 }
const QUICK: Scale = { rounds: 3, requests: 500, subscribers: 100, events: 10 }

export const USAGE = `npm run bench -- [--quick] [--json] [--case NAME]… [--rounds N] [--requests N] [--subscribers N] [--events N] [--profile DIR]`

export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      case: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string' },
      requests: { type: 'string' },
      subscribers: { type: 'string' },
      events: { type: 'string' },
      profile: { type: 'string' },
    },
  })
  const scale = values.quick ? QUICK : FULL
  return {
    rounds: count(values.rounds, scale.rounds),
    requests: count(values.requests, scale.requests),
    subscribers: count(values.subscribers, scale.subscribers),
    events: count(values.events, scale.events),
    json: values.json,
    cases: values.case,
    profile: values.profile,
  }
}

function count(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new TypeError(`${text} is no number of something.\n${USAGE}`)
  return Number(text)
}
