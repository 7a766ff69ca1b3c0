import { z } from 'zod'
import { cleanText, codePointLength, isWellFormedText } from '../lib/text.ts'
import { builder, type SchemaTypes } from './builder.ts'
import type { EnumRef } from './enums.ts'
import { InvalidInputError } from './errors.ts'
import { decodeId, ID_PREFIX, type NodeName } from './ids.ts'

type InputTypeParam = Parameters<PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>['field']>[0]['type']
type Fields = Record<string, Arg<unknown>>

/** What a use-case receives for these arguments. */
export type Values<F> = {
  [K in keyof F as F[K] extends Arg<infer T> ? (undefined extends T ? never : K) : never]: F[K] extends Arg<infer T>
    ? T
    : never
} & {
  [K in keyof F as F[K] extends Arg<infer T> ? (undefined extends T ? K : never) : never]?: F[K] extends Arg<infer T>
    ? T
    : never
}

/**
 * One argument or input field: its GraphQL type for the reader, its zod type for the value. Bounds are its description
 * where it has no better one.
 */
export class Arg<T> {
  readonly type: InputTypeParam
  readonly check: z.ZodType<T>
  readonly required: boolean
  readonly description: string | undefined

  constructor(type: InputTypeParam, check: z.ZodType<T>, required = true, description?: string) {
    this.type = type
    this.check = check
    this.required = required
    this.description = description
  }

  /** May be left out; null is refused, since it would mean "clear". */
  optional(): Arg<T | undefined> {
    return new Arg(this.type, this.check.optional(), false, this.description)
  }

  /** May be left out (unchanged) or null (cleared). */
  nullable(): Arg<T | null | undefined> {
    return new Arg(this.type, this.check.nullish(), false, this.description)
  }

  describe(description: string): Arg<T> {
    return new Arg(this.type, this.check, this.required, description)
  }
}

const wellFormed = z.string().refine(isWellFormedText, 'must not contain U+0000 or half a surrogate pair')
const PASSWORD_BYTES = 1_024

function idOf(type: NodeName) {
  return z.string().transform((text, context) => {
    const decoded = decodeId(text)
    if (decoded?.typename === type) return decoded.id
    context.addIssue({ code: 'custom', message: `expected an id like ${ID_PREFIX[type]}_…` })
    return z.NEVER
  })
}

export const arg = {
  /** A global id of that type; the use-case gets the UUID (PLAT-58). */
  id: (type: NodeName) =>
    new Arg('ID', idOf(type), true, `Of ${/^[AEIO]/.test(type) ? 'an' : 'a'} ${type}: \`${ID_PREFIX[type]}_…\`.`),
  /** Text that people write: NFC, trimmed, then measured in characters (ROOM-7). */
  text: ({ min = 1, max }: { min?: number; max: number }) =>
    new Arg(
      'String',
      wellFormed
        .transform(cleanText)
        .refine(
          (text) => codePointLength(text) >= min,
          min === 1 ? 'must not be empty' : `must have at least ${min} characters`,
        )
        .refine((text) => codePointLength(text) <= max, `must have at most ${max} characters`),
      true,
      min === 0 ? `At most ${max} characters.` : `${min} to ${max} characters.`,
    ),
  /** Text kept to the letter, such as a password or a token. */
  exact: (max = PASSWORD_BYTES) =>
    new Arg(
      'String',
      wellFormed.refine((text) => text.length <= max, `must have at most ${max} characters`),
    ),
  int: (min: number, max: number) => new Arg('Int', z.number().int().min(min).max(max), true, `${min} to ${max}.`),
  bigInt: () => new Arg('BigInt', z.bigint()),
  boolean: () => new Arg('Boolean', z.boolean()),
  date: () => new Arg('Date', z.string()),
  dateTime: () => new Arg('DateTime', z.string()),
  uuid: () => new Arg('UUID', z.string()),
  /** Any JSON value that PostgreSQL can store. */
  json: () => new Arg<unknown>('JSON', z.unknown().superRefine(checkJson)),
  /** GraphQL lets only its values through, and null where the argument may be left out. */
  enum: <V extends string>(type: EnumRef<V>) =>
    new Arg<V>(
      type as never,
      z.custom<V>((value) => typeof value === 'string', 'must not be null'),
    ),
  /** A nested input object. */
  object: <F extends Fields>(name: string, fields: F, description?: string) => {
    const check = checkOf(fields)
    return new Arg<Values<F>>(inputType(name, fields, description) as never, check as never)
  },
  /** A nested input object of which exactly one field is given. */
  oneOf: <F extends Fields>(name: string, fields: F, description?: string) =>
    new Arg<Partial<Values<F>>>(inputType(name, fields, description, true) as never, checkOf(fields) as never),
  list: <T>(item: Arg<T>, max: number) => new Arg<T[]>([item.type] as never, z.array(item.check).max(max)),
}

const JSON_DEPTH = 20

function checkJson(value: unknown, context: { addIssue(message: string): void }): void {
  const fault = jsonFault(value)
  if (fault) context.addIssue(fault)
}

/** What keeps PostgreSQL from storing a JSON value, if anything does. */
export function jsonFault(value: unknown, depth = JSON_DEPTH): string | null {
  if (typeof value === 'string') return wellFormed.safeParse(value).error?.issues[0]?.message ?? null
  if (typeof value !== 'object' || value === null) return null
  if (depth === 0) return `must be at most ${JSON_DEPTH} levels deep`
  const members: unknown[] = Array.isArray(value) ? value : Object.entries(value).flat()
  for (const member of members) {
    const fault = jsonFault(member, depth - 1)
    if (fault) return fault
  }
  return null
}

function checkOf(fields: Fields): z.ZodType {
  return z.object(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.check])))
}

/** The input object type of these fields. */
export function inputType(name: string, fields: Fields, description?: string, isOneOf = false) {
  return builder.inputType(name, {
    ...(description && { description }),
    ...(isOneOf && { isOneOf }),
    fields: ((t: PothosSchemaTypes.InputFieldBuilder<SchemaTypes, 'InputObject'>) =>
      Object.fromEntries(
        Object.entries(fields).map(([key, field]) => [key, t.field(options(field, isOneOf))]),
      )) as never,
  } as never)
}

/** Arguments of a query or subscription field: `args: read.args`, then `read.values(args)` in the resolver. */
export function argumentsOf<F extends Fields>(fields: F) {
  const check = checkOf(fields)
  return {
    args: Object.fromEntries(
      Object.entries(fields).map(([key, field]) => [
        key,
        builder.args((t) => ({ [key]: t.field(options(field)) }))[key],
      ]),
    ) as Record<string, never>,
    values: (raw: object): Values<F> => checked(check, raw, []) as Values<F>,
  }
}

/** Checks an input object; issues carry the path from the argument down. */
export function inputReader<F extends Fields>(fields: F): (raw: unknown) => Values<F> {
  const check = checkOf(fields)
  return (raw) => checked(check, raw, ['input']) as Values<F>
}

function checked(check: z.ZodType, raw: unknown, at: readonly string[]): unknown {
  const read = check.safeParse(raw)
  if (read.success) return read.data
  throw new InvalidInputError(
    read.error.issues.map(({ path, message }) => ({ path: [...at, ...path.map(String)], message })),
  )
}

function options({ type, required, description }: Arg<unknown>, inOneOf = false) {
  return { type, required: required && !inOneOf, ...(description && { description }) } as never
}
