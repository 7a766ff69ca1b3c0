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
  /** Rooms that vote at the same time, with so many people each. */
  rooms: number
  people: number
}

export type Options = Scale & {
  json: boolean
  /** Only these cases; empty: all. */
  cases: string[]
  /** Where the product writes its CPU profile when it ends. */
  profile: string | undefined
  /** Another checkout of the product, which `rooms` plays with too. */
  baseline: string | undefined
  /** Whether to print what the database was busy with. */
  statements: boolean
}

const FULL: Scale = { rounds: 7, requests: 2_000, subscribers: 5_000, events: 40, rooms: 100, people: 50 }
const QUICK: Scale = { rounds: 3, requests: 500, subscribers: 100, events: 10, rooms: 10, people: 10 }

export const USAGE = `npm run bench -- [--quick] [--json] [--case NAME]… [--rounds N] [--requests N] [--subscribers N] [--events N] [--rooms N] [--people N] [--profile DIR] [--baseline DIR] [--statements]`

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
      rooms: { type: 'string' },
      people: { type: 'string' },
      profile: { type: 'string' },
      baseline: { type: 'string' },
      statements: { type: 'boolean', default: false },
    },
  })
  const scale = values.quick ? QUICK : FULL
  return {
    rounds: count(values.rounds, scale.rounds),
    requests: count(values.requests, scale.requests),
    subscribers: count(values.subscribers, scale.subscribers),
    events: count(values.events, scale.events),
    rooms: count(values.rooms, scale.rooms),
    people: count(values.people, scale.people),
    json: values.json,
    cases: values.case,
    profile: values.profile,
    baseline: values.baseline,
    statements: values.statements,
  }
}

function count(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new TypeError(`${text} is no number of something.\n${USAGE}`)
  return Number(text)
}
