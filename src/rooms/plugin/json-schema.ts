import { type AnySchemaObject, Ajv2020 as Schemas, type ValidateFunction } from 'ajv/dist/2020.js'
import { InvalidInputError } from '../../graphql/errors.ts'
import { isObject } from './state.ts'

const BYTES_MAX = 32_768
/** Nodes of a schema once its references are followed: what a value is held against at most. */
const NODES_MAX = 4_096
const DEPTH_MAX = 32
/** Compiled schemas that are kept; a kind has a few. */
const KEPT = 512

/** Not taken: what can cost more than a look at each part of the value, and references that lead elsewhere. */
const REFUSED = ['pattern', 'patternProperties', 'uniqueItems', '$async', '$id', '$dynamicRef', '$recursiveRef']

export class UnfitSchemaError extends Error {
  override readonly name = 'UnfitSchemaError'
}

const compiled = new Map<string, ValidateFunction>()

/** Compiles a schema, once for all who declare the same. Throws UnfitSchemaError. */
export function compileSchema(schema: unknown): ValidateFunction {
  if (!isObject(schema)) throw new UnfitSchemaError('is no JSON Schema object')
  measure(schema, schema, { nodes: 0 }, 0)
  const text = JSON.stringify(schema)
  if (Buffer.byteLength(text) > BYTES_MAX) throw new UnfitSchemaError('is bigger than 32 KiB')
  const known = compiled.get(text)
  if (known) return known
  const made = compile(schema)
  compiled.set(text, made)
  if (compiled.size > KEPT) for (const oldest of [...compiled.keys()].slice(0, 1)) compiled.delete(oldest)
  return made
}

/** Each has an instance of its own, so that none sees what another defines. */
function compile(schema: AnySchemaObject): ValidateFunction {
  const { $schema: _dialect, ...rest } = schema
  try {
    if (!new Schemas({ strict: true, logger: false }).validateSchema(rest))
      throw new UnfitSchemaError('is no JSON Schema')
    const schemas = new Schemas({
      strict: true,
      strictTypes: false,
      strictTuples: false,
      strictRequired: false,
      validateSchema: false,
      logger: false,
    })
    for (const keyword of REFUSED) schemas.removeKeyword(keyword)
    return schemas.compile(rest)
  } catch (error) {
    throw error instanceof UnfitSchemaError ? error : new UnfitSchemaError((error as Error).message)
  }
}

/** Follows references as validation would; a schema that contains itself, or grows by doubling, is refused here. */
function measure(root: unknown, node: unknown, seen: { nodes: number }, depth: number): void {
  if (typeof node !== 'object' || node === null) return
  if (++seen.nodes > NODES_MAX || depth > DEPTH_MAX)
    throw new UnfitSchemaError('is too big, too deep or contains itself')
  for (const [key, value] of Object.entries(node)) {
    if (key === '$ref' && typeof value === 'string') measure(root, target(root, value), seen, depth + 1)
    else if (key === '$async' && value === true) throw new UnfitSchemaError('must not be asynchronous')
    else measure(root, value, seen, depth + 1)
  }
}

function target(root: unknown, ref: string): unknown {
  if (!/^#(\/|$)/.test(ref)) throw new UnfitSchemaError('has a reference out of itself')
  let node = root
  for (const part of ref.slice(2).split('/').filter(Boolean)) {
    const key = decoded(part)
    node = typeof node === 'object' && node !== null && Object.hasOwn(node, key) ? (node as never)[key] : undefined
  }
  return node
}

/** A part of a JSON pointer in an address. */
function decoded(part: string): string {
  try {
    return unescaped(decodeURIComponent(part))
  } catch {
    throw new UnfitSchemaError('has a reference that is none')
  }
}

const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~')

/** Throws InvalidInputError at the place of the value in the input, unless the value fits. */
export function requireFit(schema: unknown, value: unknown, path: readonly string[]): void {
  const fits = compileSchema(schema)
  if (fits(value)) return
  const issues = (fits.errors ?? []).map(({ instancePath, message }) => ({
    path: ['input', ...path, ...instancePath.split('/').slice(1).map(unescaped)],
    message: message ?? 'does not fit',
  }))
  throw new InvalidInputError(issues)
}
