import { type Json, MAX_DEPTH, TRUNCATED } from './redact.ts'
import { firstCodePoints } from './text.ts'

const MAX_STORED_BYTES = 4096
const LEAF_LENGTH = 256

/** Bounds a value to `maxBytes` of JSON in UTF-8, at least 32 (PLAT-24): long strings are cut, then trailing members dropped. */
export function truncate(value: Json, maxBytes = MAX_STORED_BYTES): Json {
  const shallow = cutDepth(value, 1)
  const excess = jsonBytes(shallow) - maxBytes
  if (excess <= 0) return shallow
  const short = cutStrings(shallow, excess)
  return beginningOf(short, maxBytes) ?? TRUNCATED
}

/** The text's beginning in at most `maxBytes` of UTF-8, marked when something is missing. */
export function truncateText(text: string, maxBytes = MAX_STORED_BYTES): string {
  if (Buffer.byteLength(text) <= maxBytes) return text
  const bytes = Buffer.from(text)
  let end = maxBytes - TRUNCATED.length
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end-- // a continuation byte: back to the start of its code point
  return bytes.toString('utf8', 0, end) + TRUNCATED
}

function cutDepth(value: Json, depth: number): Json {
  if (typeof value !== 'object' || value === null) return value
  if (depth > MAX_DEPTH) return TRUNCATED
  if (Array.isArray(value)) return value.map((item) => cutDepth(item, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, cutDepth(member, depth + 1)]))
}

/** Cuts the longest strings, and no more of them than are needed to save `excess` bytes. */
function cutStrings(value: Json, excess: number): Json {
  const savings = stringsOf(value)
    .map((text) => jsonBytes(text) - jsonBytes(cutLeaf(text)))
    .filter((saving) => saving > 0)
    .sort((a, b) => b - a)
  let least = Number.POSITIVE_INFINITY
  let saved = 0
  for (const saving of savings) {
    if (saved >= excess) break
    saved += saving
    least = saving
  }
  return mapStrings(value, (text) => (jsonBytes(text) - jsonBytes(cutLeaf(text)) >= least ? cutLeaf(text) : text))
}

const cutLeaf = (text: string): string => {
  const start = firstCodePoints(text, LEAF_LENGTH)
  return start === text ? text : start + TRUNCATED
}

function stringsOf(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(stringsOf)
}

function mapStrings(value: Json, map: (text: string) => string): Json {
  if (typeof value === 'string') return map(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map))
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapStrings(member, map)]))
}

const OBJECT_MARK = jsonBytes({ [TRUNCATED]: true })
const LIST_MARK = jsonBytes([TRUNCATED])

/** The value's beginning in document order, every container that lost its end marked; null when not even the mark fits. */
function beginningOf(value: Json, budget: number): Json | null {
  if (jsonBytes(value) <= budget) return value
  if (typeof value !== 'object' || value === null) return null
  return Array.isArray(value) ? listBeginning(value, budget) : objectBeginning(value, budget)
}

function listBeginning(list: Json[], budget: number): Json | null {
  let left = budget - LIST_MARK
  if (left < 0) return null
  const kept: Json[] = []
  for (const item of list) {
    const fitting = beginningOf(item, left - 1)
    if (fitting === null) break
    kept.push(fitting)
    left -= jsonBytes(fitting) + 1
    if (fitting !== item) break
  }
  return [...kept, TRUNCATED]
}

function objectBeginning(object: { [key: string]: Json }, budget: number): Json | null {
  let left = budget - OBJECT_MARK
  if (left < 0) return null
  const kept: [string, Json][] = []
  for (const [key, member] of Object.entries(object)) {
    const around = jsonBytes(key) + 2 // colon and comma
    const fitting = beginningOf(member, left - around)
    if (fitting === null) break
    kept.push([key, fitting])
    left -= around + jsonBytes(fitting)
    if (fitting !== member) break
  }
  return Object.fromEntries([...kept, [TRUNCATED, true]])
}

function jsonBytes(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value))
}
