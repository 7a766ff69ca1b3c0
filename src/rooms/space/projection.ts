import { prisma } from '../../db/prisma.ts'
import { encodeId } from '../../graphql/ids.ts'
import type { Projection, RowsById } from '../../platform/index.ts'

type SpaceRow = { id: string; slug: string; name: string }
type RoomRow = { id: string; kind: string; title: string }

const spaces: RowsById<SpaceRow> = async (orgId, ids) => {
  const select = { id: true, slug: true, name: true } as const
  const found = await prisma.space.findMany({ where: { orgId, id: { in: [...ids] } }, select })
  return new Map(found.map((space) => [space.id, space]))
}

const rooms: RowsById<RoomRow> = async (orgId, ids) => {
  const select = { id: true, kind: true, title: true } as const
  const found = await prisma.room.findMany({ where: { orgId, id: { in: [...ids] } }, select })
  return new Map(found.map((room) => [room.id, room]))
}

/** The event's payload and its space as it is now, null when it is gone (ROOM-183). */
export const inSpace: Projection<object> = async ({ payload, spaceId }, _form, { row }) => {
  const space = await row(spaces, spaceId)
  return { ...payload, space: space && { ...space, id: encodeId('Space', space.id) } }
}

/** That and its room; what people called the room is for the space alone. */
export const inRoom: Projection<object> = async (event, form, rows) => {
  const room = await rows.row(rooms, event.roomId)
  const shown = room && {
    id: encodeId('Room', room.id),
    kind: room.kind,
    ...(form === 'space' && { title: room.title }),
  }
  return { ...(await inSpace(event, form, rows)), room: shown }
}
