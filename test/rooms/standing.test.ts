import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

it('ROOM-6 counts the same people as members wherever it counts them', async () => {
  const { room } = await world.pokerRoom({ stories: 0 })
  const [writer, viewer, anonymous] = [await world.member(), await world.viewer(), await world.anonymous()]
  const [invited, revoked, suspended, left] = [
    await world.member(),
    await world.viewer(),
    await world.member(),
    await world.anonymous(),
  ]
  await world.sql('UPDATE identity.memberships SET joined_at = NULL WHERE user_id = $1', [invited.userId])
  await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [revoked.userId])
  await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = ANY ($1)`, [
    [suspended.userId, left.userId],
  ])

  const { space } = await world.owner.run('query ($id: ID!) { space(id: $id) { members { nodes { user { id } } } } }', {
    id: world.home.id,
  })
  const listed = space.members.nodes.map(({ user }: { user: { id: string } }) => user.id)
  const viewed = await world.sql<{ user_id: string; viewer: boolean }>(
    'SELECT user_id, viewer FROM rooms.members WHERE space_id = $1 ORDER BY user_id',
    [world.home.uuid],
  )
  const people = await world.sql<{ user_id: string; spectator: boolean }>(
    'SELECT user_id, spectator FROM rooms.room_circle($1, $2) ORDER BY user_id',
    [world.org.id, room.uuid],
  )

  const counted = [writer, viewer, anonymous, world.owner]
  expect(listed).toEqual(expect.arrayContaining(counted.map(({ id }) => id)))
  for (const { id } of [invited, revoked, suspended, left]) expect(listed).not.toContain(id)
  expect(viewed).toHaveLength(listed.length)
  expect(people).toEqual(viewed.map(({ user_id, viewer: spectator }) => ({ user_id, spectator })))
  expect(viewed.filter((row) => row.viewer)).toEqual([{ user_id: viewer.userId, viewer: true }])
})
