import { isSecretKey, REDACTED, redactMembers, redactValues } from './redact-text.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export const TRUNCATED = '<truncated>'
export const MAX_DEPTH = 20
const MAX_JSON_LEVELS = 3

/**
 * A copy of any value as plain JSON without its secrets (PLAT-23): for tool arguments, errors, payloads, logs and
 * stored answers. It never throws: what cannot be read, repeats itself or lies too deep is replaced by a mark.
 */
export const redact = (value: unknown): Json => copy(value, walk(0), 1) ?? null

/** The same for text that may hold JSON, or be only that. */
export const redactText = (text: string): string => copyText(text, 0)

/** The same for one line of a log in JSON: as pino's `hooks.streamWrite` it sees message, error and bindings alike. */
export const redactLine = (line: string): string => copyText(line, -1)

/** `jsonLevel`: how many strings were opened to come here. */
type Walk = { jsonLevel: number; ancestors: Set<object> }

const walk = (jsonLevel: number): Walk => ({ jsonLevel, ancestors: new Set() })

/** Undefined for what JSON leaves out. */
function copy(value: unknown, at: Walk, depth: number): Json | undefined {
  if (typeof value === 'string') return copyText(value, at.jsonLevel)
  if (typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object') return undefined
  if (at.ancestors.has(value)) return '<circular>'
  if (depth > MAX_DEPTH) return TRUNCATED

  at.ancestors.add(value)
  try {
    return copyObject(value, at, depth)
  } catch {
    return '<unreadable>' // a getter or toJSON that throws
  } finally {
    at.ancestors.delete(value)
  }
}

function copyObject(value: object, at: Walk, depth: number): Json | undefined {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `<${value.byteLength} bytes>`
  if (value instanceof Error) return copyEntries(errorEntries(value), at, depth)
  if (value instanceof Map) return copyEntries(mapEntries(value), at, depth)
  if (value instanceof Set) return copyList([...value], at, depth)
  if ('toJSON' in value && typeof value.toJSON === 'function') return copy(value.toJSON(), at, depth)
  return Array.isArray(value) ? copyList(value, at, depth) : copyEntries(Object.entries(value), at, depth)
}

function copyList(list: readonly unknown[], at: Walk, depth: number): Json {
  if (list.length > 0 && depth < MAX_DEPTH && list.every(isTextPair)) {
    return list.map(([name, value]) => [
      redactValues(name),
      isSecretKey(name) ? REDACTED : (copy(value, at, depth + 2) ?? null),
    ])
  }
  return list.map((item) => copy(item, at, depth + 1) ?? null)
}

function copyEntries(entries: readonly [string, unknown][], at: Walk, depth: number): Json {
  const namesSecret = entries.some(
    ([key, value]) => /^(?:name|key|header)$/i.test(key) && typeof value === 'string' && isSecretKey(value),
  )
  const members: [string, Json][] = []
  for (const [key, value] of entries) {
    const secret = isSecretKey(key) || (namesSecret && /^values?$/i.test(key))
    const member = secret && value !== undefined ? REDACTED : copy(value, at, depth + 1)
    if (member !== undefined) members.push([redactValues(key), member])
  }
  return Object.fromEntries(members) // own properties, `__proto__` too
}

function copyText(text: string, jsonLevel: number): string {
  if (jsonLevel < MAX_JSON_LEVELS && /^\s*[{["]/.test(text)) {
    const cleaned = copyJsonText(text, jsonLevel)
    if (cleaned !== null) return cleaned + text.slice(text.trimEnd().length)
  }
  return redactValues(text.includes('"') ? redactMembers(text) : text)
}

/** Null when the text is no JSON, or holds nothing to redact and may keep its spelling. */
function copyJsonText(text: string, jsonLevel: number): string | null {
  const parsed = jsonOrUndefined(() => JSON.parse(text))
  if (parsed === undefined) return null
  const original = jsonOrUndefined(() => JSON.stringify(parsed)) // may be too deep to be written again
  const cleaned = JSON.stringify(copy(parsed, walk(jsonLevel + 1), 1))
  return cleaned === original ? null : cleaned
}

function jsonOrUndefined(convert: () => unknown): unknown {
  try {
    return convert()
  } catch {
    return undefined
  }
}

/** Name, message, stack, cause and whatever the error carries besides. */
function errorEntries(error: Error): [string, unknown][] {
  const own = Object.entries(error).filter(([key]) => key !== 'message' && key !== 'stack' && key !== 'cause')
  const entries: [string, unknown][] = [
    ['type', error.name],
    ['message', error.message],
    ['stack', error.stack],
    ...own,
  ]
  if (error.cause !== undefined) entries.push(['cause', error.cause])
  if (error instanceof AggregateError) entries.push(['errors', error.errors])
  return entries
}

const mapEntries = (map: ReadonlyMap<unknown, unknown>): [string, unknown][] =>
  [...map].map(([key, entry]) => [String(key), entry])

const isTextPair = (item: unknown): item is [string, unknown] =>
  Array.isArray(item) && item.length === 2 && typeof item[0] === 'string'
