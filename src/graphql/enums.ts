import { builder, type SchemaTypes } from './builder.ts'

export type EnumRef<V extends string> = PothosSchemaTypes.EnumRef<SchemaTypes, V, V>

/**
 * The enum of these values as the database and our code write them. GraphQL shows each in upper case, as its enum values
 * are everywhere; `values` may say what each means.
 */
export function enumOf<V extends string>(
  name: string,
  description: string,
  values: readonly V[] | Readonly<Record<V, string>>,
): EnumRef<V> {
  const meanings: [V, string?][] = Array.isArray(values)
    ? values.map((value: V) => [value])
    : (Object.entries(values) as [V, string][])
  const shown = meanings.map(([value, meaning]) => [
    value.toUpperCase(),
    { value, ...(meaning !== undefined && { description: meaning }) },
  ])
  return builder.enumType(name, { description, values: Object.fromEntries(shown) }) as EnumRef<V>
}
