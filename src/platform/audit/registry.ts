import type { z } from 'zod'
import { type Projection, payloadAsRecorded } from './projection.ts'
import { nobody, placeReaders, type Readers } from './readers.ts'

/** `activity` shows in the feeds of those it concerns; `audit_only` to admins alone. */
const EVENT_CATEGORIES = ['activity', 'audit_only'] as const
export type EventCategory = (typeof EVENT_CATEGORIES)[number]

type Definition<P extends object> = {
  category: EventCategory
  /** Survives the purge of its org. */
  durable?: true
  /** Goes to webhooks and plugins. */
  deliverable?: true
  /** Ids, names of changed fields, states and figures; nothing that people wrote, no secret (PLAT-14, ROOM-8). */
  payload: z.ZodType<P>
  /** Of an `activity` type: who may read it in the activity feed. Without it: whoever reads where it happened. */
  readers?: Readers
  /** What others than admins get. Without it: the payload. */
  projection?: Projection<P>
  /** For the printed list: when it is recorded. */
  description?: string
}

export type EventType<P extends object = object> = {
  readonly name: string
  readonly category: EventCategory
  readonly durable: boolean
  readonly deliverable: boolean
  readonly payload: z.ZodType<P>
  readonly readers: Readers
  readonly projection: Projection<P>
  readonly description: string
}

// biome-ignore lint/suspicious/noExplicitAny: payloads differ by type; each is checked by its own schema
export type AnyEventType = EventType<any>

const NAME = /^[a-z][a-z_]*(\.[a-z_]+)+$/
const types = new Map<string, AnyEventType>()

/** Declares an event type, once, in the body that records it (PLAT-12). */
export function defineEvent<P extends object>(name: string, definition: Definition<P>): EventType<P> {
  if (!NAME.test(name) || name.length > 100) throw new TypeError(`${name} is no name of an event type`)
  if (types.has(name)) throw new TypeError(`${name} is defined twice`)
  const { category, payload, durable, deliverable, readers, projection, description } = definition
  const type: EventType<P> = {
    name,
    category,
    payload,
    durable: durable ?? false,
    deliverable: deliverable ?? false,
    readers: category === 'activity' ? (readers ?? placeReaders) : nobody,
    projection: projection ?? (payloadAsRecorded as Projection<P>),
    description: description ?? '',
  }
  types.set(name, type)
  return type
}

export function eventType(name: string): AnyEventType | undefined {
  return types.get(name)
}

/** All of them by name. */
export function eventTypes(): AnyEventType[] {
  return [...types.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The types that an exact name or a wildcard such as `room.*` stands for; none when it is unknown (PLAT-20). */
export function eventTypesMatching(pattern: string): AnyEventType[] {
  if (!pattern.endsWith('.*')) return [types.get(pattern)].filter((type) => type !== undefined)
  const beginning = pattern.slice(0, -1)
  return eventTypes().filter(({ name }) => name.startsWith(beginning))
}
