import { afterAll, beforeAll, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { prisma } from '../../src/db/prisma.ts'
import { rowsById } from '../../src/db/rows.ts'
import { type App, startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let app: App
let world: World
beforeAll(async () => {
  app = await startApp()
  world = await createWorld(app)
})
afterAll(() => app.close())

it('PLAT-60 reads rows by id as Prisma reads them: microseconds, BigInt, JSON, nulls', async () => {
  const { room, host } = await world.pokerRoom({ voters: 1 })
  const read = await operation('read', { orgId: world.org.id, userId: host.userId }, async () => ({
    rooms: [await rowsById('Room')([room.uuid]), await prisma.room.findMany({ where: { id: room.uuid } })] as const,
    users: [await rowsById('User')([host.userId]), await prisma.user.findMany({ where: { id: host.userId } })] as const,
    stories: [await rowsById('Story')([]), []] as const,
  }))
  expect([...read.rooms[0].values()].map(instants)).toEqual(read.rooms[1].map(instants))
  expect([...read.users[0].values()].map(instants)).toEqual(read.users[1].map(instants))
  expect(read.rooms[1]).toHaveLength(1)
  expect(read.stories[0].size).toBe(0)
})

/** Drivers write the zone differently; the digits and everything else must be the same. */
const instants = (row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' && name.endsWith('At') ? value.replace('T', ' ').replace(/\+00(:00)?$/, '') : value,
    ]),
  )
