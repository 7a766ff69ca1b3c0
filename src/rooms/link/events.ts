import { z } from 'zod'
import { defineEvent, nodeId } from '../../platform/index.ts'
import { inRoom } from '../space/projection.ts'

const payload = z.strictObject({ linkId: nodeId('RoomLink') })
const of = (description: string) => ({ category: 'audit_only', description, payload, projection: inRoom }) as const

export const linkMinted = defineEvent('room_link.minted', of('A link was made that lets guests into a room.'))
export const linkRevoked = defineEvent('room_link.revoked', of('A link of a room was revoked; its guests are out.'))
export const linkRedeemed = defineEvent(
  'room_link.redeemed',
  of('Somebody came into a room by a link, as a new guest.'),
)
