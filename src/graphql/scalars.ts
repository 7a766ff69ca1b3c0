import { GraphQLError, Kind, type ValueNode } from 'graphql'
import { isDay, isInstant } from '../lib/instant.ts'
import { isRfcUuid } from '../lib/uuid.ts'
import { builder } from './builder.ts'

const INT64_MAX = 2n ** 63n - 1n

const refuse = (what: string): never => {
  throw new GraphQLError(`expected ${what}`)
}

function literalText(node: ValueNode, what: string): string {
  return node.kind === Kind.STRING || node.kind === Kind.INT ? node.value : refuse(what)
}

function bigIntOf(value: unknown): bigint {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  if (typeof text !== 'string' || !/^-?\d{1,19}$/.test(text)) return refuse('a 64-bit integer as a string')
  const read = BigInt(text)
  return read > INT64_MAX || read < -INT64_MAX ? refuse('a 64-bit integer as a string') : read
}

function instantOf(value: unknown): string {
  return isInstant(value) ? value : refuse('an RFC 3339 instant such as 2026-03-01T09:30:00.123456Z')
}

function dayOf(value: unknown): string {
  return isDay(value) ? value : refuse('a calendar day such as 2026-03-01')
}

function uuidOf(value: unknown): string {
  return isRfcUuid(value) ? value : refuse('a lower-case UUID')
}

builder.scalarType('BigInt', {
  description: 'A 64-bit integer, sent as a decimal string: JSON numbers lose digits beyond 2^53.',
  serialize: (value) => String(value),
  parseValue: bigIntOf,
  parseLiteral: (node) => bigIntOf(literalText(node, 'a 64-bit integer')),
})

builder.scalarType('DateTime', {
  description: 'An instant in RFC 3339 form, UTC, microseconds kept: `2026-03-01T09:30:00.123456Z`.',
  serialize: (value) => instantText(String(value)),
  parseValue: instantOf,
  parseLiteral: (node) => instantOf(literalText(node, 'an RFC 3339 instant')),
})

builder.scalarType('Date', {
  description: 'A calendar day, without a zone: `2026-03-01`.',
  serialize: (value) => String(value),
  parseValue: dayOf,
  parseLiteral: (node) => dayOf(literalText(node, 'a calendar day')),
})

builder.scalarType('UUID', {
  description: 'A UUID in lower case, made by the client.',
  serialize: (value) => String(value),
  parseValue: uuidOf,
  parseLiteral: (node) => uuidOf(literalText(node, 'a lower-case UUID')),
})

builder.scalarType('JSON', {
  description: 'Any JSON value.',
  serialize: (value) => value,
  parseValue: (value) => value,
})

/** `2026-03-01 09:30:00.123456+00` and `…T09:30:00.123456+00:00`, as drivers give them, become `…T09:30:00.123456Z`. */
export function instantText(text: string): string {
  return text.replace(' ', 'T').replace(/[+]00(:?00)?$/, 'Z')
}
