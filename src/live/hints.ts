import { isUuid } from '../lib/uuid.ts'

/** What one follows. */
export type Topic =
  /** Credentials and standing, of every org (PLAT-26). */
  | { readonly channel: 'identity' }
  /** New audit events of one org. */
  | { readonly channel: 'audit'; readonly orgId: string }
  /** Changes and presence of one room (ROOM-175). */
  | { readonly channel: 'rooms'; readonly orgId: string; readonly roomId: string }
  /** Work of one kind, of every org. */
  | { readonly channel: 'jobs'; readonly kind: string }

export type IdentityHint = {
  readonly channel: 'identity'
  readonly type: 'agent' | 'key' | 'org' | 'member' | 'session' | 'link' | 'user'
  readonly orgId: string | null
  readonly id: string
  readonly state: string
}
export type AuditHint = { readonly channel: 'audit'; readonly orgId: string }
export type RoomHint = {
  readonly channel: 'rooms'
  readonly orgId: string
  readonly roomId: string
  /** Presence is unversioned: the room's state is as it was. */
  readonly presence: boolean
  /** Somebody asked somebody for help; the room's state is as it was (ROOM-108). */
  readonly mention?: true
}
export type JobsHint = { readonly channel: 'jobs'; readonly kind: string }

/** Something may have changed there. It has no content: whoever hears it reads again under their own rights (PLAT-27). */
export type Hint = IdentityHint | AuditHint | RoomHint | JobsHint
export type HintOf<T extends Topic> = Extract<Hint, { channel: T['channel'] }>

export const CHANNELS = {
  identity: 'moothall_identity',
  audit: 'moothall_audit',
  rooms: 'moothall_rooms',
  jobs: 'moothall_jobs',
} as const

const JOB_KIND = /^[a-z_]{1,64}$/
const SUBJECTS: ReadonlySet<unknown> = new Set(['agent', 'key', 'org', 'member', 'session', 'link', 'user'])

/** Reads a notification: a hint, `ping` for a heartbeat, or null for what this version does not understand. */
export function parseHint(channel: string, payload: string): Hint | 'ping' | null {
  if (channel === CHANNELS.audit) return isUuid(payload) ? { channel: 'audit', orgId: payload } : null
  if (channel === CHANNELS.jobs) return JOB_KIND.test(payload) ? { channel: 'jobs', kind: payload } : null
  const message = parseObject(payload)
  if (message?.['v'] !== 1) return null
  if (channel === CHANNELS.rooms) return roomHint(message)
  if (channel === CHANNELS.identity) return message['t'] === 'ping' ? 'ping' : identityHint(message)
  return null
}

/** Equal topics have equal keys. */
export function topicKey(topic: Topic): string {
  if (topic.channel === 'identity') return 'identity'
  if (topic.channel === 'jobs') return `jobs:${topic.kind}`
  return topic.channel === 'audit' ? `audit:${topic.orgId}` : `rooms:${topic.orgId}:${topic.roomId}`
}

function roomHint({ o, r, p, m }: Record<string, unknown>): RoomHint | null {
  if (!isUuid(o) || !isUuid(r)) return null
  return { channel: 'rooms', orgId: o, roomId: r, presence: p === 1, ...(m === 1 && { mention: true }) }
}

function identityHint({ t, org, id, s }: Record<string, unknown>): IdentityHint | null {
  if (!SUBJECTS.has(t) || !isUuid(id) || typeof s !== 'string') return null
  return { channel: 'identity', type: t as IdentityHint['type'], orgId: isUuid(org) ? org : null, id, state: s }
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
