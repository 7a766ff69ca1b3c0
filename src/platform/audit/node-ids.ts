import { z } from 'zod'
import { encodeId, isNodeName, type NodeName } from '../../graphql/ids.ts'
import { isUuidV7 } from '../../lib/uuid.ts'

/** In an event's payload: the id of a node. It is stored as a UUID, and shown as the global id that callers can use. */
export function nodeId(type: NodeName) {
  return z.uuidv7().meta({ node: type })
}

/** A JSON schema, as far as payloads go. */
export type Shape = {
  type?: string | string[]
  /** The type of the node whose id it is. */
  node?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Shape[]
  oneOf?: Shape[]
  items?: Shape
  properties?: Record<string, Shape>
  required?: string[]
  additionalProperties?: Shape | boolean
}

const shapes = new WeakMap<z.ZodType, Shape>()

export function shapeOfPayload(payload: z.ZodType): Shape {
  const known = shapes.get(payload)
  if (known) return known
  const shape = z.toJSONSchema(payload, { unrepresentable: 'any' }) as Shape
  shapes.set(payload, shape)
  return shape
}

/** A payload, or what a projection keeps of it, with global ids where its schema has ids of nodes. */
export function withGlobalIds(shape: Shape, value: unknown): unknown {
  const { node, anyOf, oneOf, items, properties = {}, additionalProperties } = shape
  if (typeof value === 'string') {
    if (node !== undefined) return isNodeName(node) && isUuidV7(value) ? encodeId(node, value) : value
  }
  const variants = anyOf ?? oneOf
  if (variants) return variants.reduce((shown, variant) => withGlobalIds(variant, shown), value)
  if (Array.isArray(value)) return items ? value.map((item) => withGlobalIds(items, item)) : value
  if (typeof value !== 'object' || value === null) return value
  const others = typeof additionalProperties === 'object' ? additionalProperties : {}
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withGlobalIds(properties[name] ?? others, member)]),
  )
}
