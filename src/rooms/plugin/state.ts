import { jsonFault } from '../../graphql/arguments.ts'

/** What a plugin keeps of a room: for everybody, and by person for that person alone (ROOM-162). */
export type State = { readonly shared: unknown; readonly private: Readonly<Record<string, unknown>> }

/** As PostgreSQL writes it. */
export const STATE_MAX = 262_144

/** Reads what a plugin gave as a state; null where it is none. The parts must be those of `owners`. */
export function readState(given: unknown, owners: ReadonlySet<string>): State | null {
  const state = storable(given)
  if (!isObject(state)) return null
  const { shared = null, private: parts = {}, ...rest } = state
  if (Object.keys(rest).length > 0 || !isObject(parts)) return null
  if (!Object.keys(parts).every((owner) => owners.has(owner))) return null
  return { shared, private: parts }
}

/** The value as the database would give it back; undefined where it is not JSON, is too deep or surely too big. */
function storable(given: unknown): unknown {
  try {
    const text = JSON.stringify(given)
    if (text === undefined || Buffer.byteLength(text) > STATE_MAX) return undefined
    const value: unknown = JSON.parse(text)
    return jsonFault(value) === null ? value : undefined
  } catch {
    return undefined // circular, too deep to write, or a number that is none
  }
}

/** The state without the parts of who is not of the room any more. */
export function withPartsOf(state: State, owners: ReadonlySet<string>): State {
  return { shared: state.shared, private: partsOf(state, (owner) => owners.has(owner)) }
}

export type SeenState = { shared: unknown; private: unknown }

/** What one viewer sees of it (ROOM-162). */
export function seenBy(state: unknown, viewerId: string | null): SeenState {
  const { shared = null, private: parts = {} } = state as Partial<State>
  return { shared, private: viewerId !== null && Object.hasOwn(parts, viewerId) ? parts[viewerId] : null }
}

const partsOf = ({ private: parts }: State, keeps: (owner: string) => boolean) =>
  Object.fromEntries(Object.entries(parts).filter(([owner]) => keeps(owner)))

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
