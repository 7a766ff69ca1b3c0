import { prisma } from '../../db/prisma.ts'
import type { EntryColumns } from '../live/event-payloads.ts'
import type { LockedRoom } from '../room/lock-room.ts'

export type EntryText = { yesterday: string; today: string; blockers: string }
export const ENTRY_TEXTS = ['yesterday', 'today', 'blockers'] as const

/** Whether any of the three says something (ROOM-91). Texts are kept trimmed. */
export const isAnswered = (entry: EntryText): boolean => ENTRY_TEXTS.some((text) => entry[text].trim() !== '')

/** Somebody's entry in the room, null while they have none. */
export function findEntry({ orgId, id: roomId }: LockedRoom, userId: string): Promise<EntryColumns | null> {
  return prisma.standupEntry.findUnique({ where: { orgId_roomId_userId: { orgId, roomId, userId } } })
}

type Written = Partial<EntryText & { ready: boolean; skipped: boolean }>

/** Makes somebody's entry, or changes what is given of it. Two at once find each other by the room's lock. */
export function putEntry({ orgId, id: roomId }: LockedRoom, userId: string, written: Written): Promise<EntryColumns> {
  const key = { orgId, roomId, userId }
  return prisma.standupEntry.upsert({
    where: { orgId_roomId_userId: key },
    create: { ...key, ...written },
    update: written,
  })
}
