import { decodeTypeId, encodeTypeId } from '../lib/type-id.ts'

/** Prefix of every node type (DESIGN §1). A new type takes a free prefix and adds it here. */
export const ID_PREFIX = {
  Org: 'org',
  User: 'usr',
  Agent: 'agt',
  ApiKey: 'key',
  Session: 'ses',
  AuditEvent: 'aud',
  ToolInvocation: 'tli',
  Webhook: 'whk',
  WebhookDelivery: 'whd',
  Space: 'spc',
  Room: 'rom',
  RoomLink: 'lnk',
  Deck: 'dck',
  Story: 'sty',
  StandupEntryComment: 'enc',
  AwayRange: 'awy',
  StandupSchedule: 'sch',
  Commitment: 'cmm',
  Kudos: 'kud',
  Project: 'prj',
} as const
export type NodeName = keyof typeof ID_PREFIX

const NODE_BY_PREFIX = new Map(Object.entries(ID_PREFIX).map(([name, prefix]) => [prefix as string, name as NodeName]))

export function encodeId(type: NodeName, uuid: string): string {
  return encodeTypeId(ID_PREFIX[type], uuid)
}

/** The type and UUID of a global id; null for anything that is none of ours (PLAT-58). */
export function decodeId(text: string): { typename: NodeName; id: string } | null {
  const parts = decodeTypeId(text)
  const typename = parts ? NODE_BY_PREFIX.get(parts.prefix) : undefined
  return parts && typename ? { typename, id: parts.uuid } : null
}

export function isNodeName(name: string | null): name is NodeName {
  return name !== null && Object.hasOwn(ID_PREFIX, name)
}
