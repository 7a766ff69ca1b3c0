import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'
import { takeBack, thank } from './follow-through.ts'
import { standup } from './standup-circle.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const WALL = 'query ($id: ID!) { space(id: $id) { kudos { nodes { id text from { id } to { id } room { id } } } } }'

it('ROOM-109, ROOM-110 a room’s kudos are on the wall unchanged, the newest first', async () => {
  const space = await world.space()
  const { room, host, people } = await standup(world, { space, people: 1 })
  const member = people[0]!
  const first = await thank(host, space, member)
  const second = await thank(member, space, host, room)
  expect(second.kudos).toMatchObject({ room: { id: room.id }, text: 'Thank you' })
  const { space: seen } = await member.run(WALL, { id: space.id })
  expect(seen.kudos.nodes.map(({ id }: { id: string }) => id)).toEqual([second.kudos.id, first.kudos.id])
  expect((await host.room(room, 'standup { kudos { id } }')).standup.kudos).toEqual([{ id: second.kudos.id }])

  await host.mutate('roomEnd', { roomId: room.id })
  expect(await thank(host, space, member, room)).toMatchObject({ code: 'ROOM_ENDED' })
  await host.mutate('roomDelete', { id: room.id })
  expect((await member.run(WALL, { id: space.id })).space.kudos.nodes[0]).toMatchObject({
    id: second.kudos.id,
    room: null,
  })
})

it('ROOM-110 nothing counts kudos, and nothing asks for one person’s', async () => {
  const { __type: connection } = await world.owner.run('{ __type(name: "KudosConnection") { fields { name } } }')
  expect(connection.fields.map(({ name }: { name: string }) => name).sort()).toEqual(['edges', 'nodes', 'pageInfo'])
  const { __type: space } = await world.owner.run('{ __type(name: "Space") { fields { name args { name } } } }')
  const { args } = space.fields.find(({ name }: { name: string }) => name === 'kudos')
  expect(args.map(({ name }: { name: string }) => name).sort()).toEqual(['after', 'before', 'first', 'last'])
})

it('ROOM-109 nobody thanks themselves, a guest or an outsider, nor does a guest, a viewer or an outsider thank', async () => {
  const space = await world.space()
  const { room, host } = await standup(world, { space })
  const guest = await world.guest(room)
  const outsider = await world.member()
  expect(await thank(host, space, host)).toMatchObject({
    code: 'INVALID_INPUT',
    issues: [{ path: ['input', 'userId'] }],
  })
  for (const who of [guest, outsider]) {
    expect(await thank(host, space, who)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'userId'] })
  }
  expect(await thank(guest, space, host)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await thank(await world.viewer({ space }), space, host)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await thank(outsider, space, host)).toMatchObject({ code: 'NOT_FOUND' })
  const elsewhere = await standup(world, { space: await world.space({ owner: host }), host })
  expect(await thank(host, space, await world.member({ space }), elsewhere.room)).toMatchObject({
    code: 'NOT_FOUND',
    path: ['input', 'roomId'],
  })
  for (const [from, to] of [
    [host, guest],
    [guest, host],
    [outsider, host],
  ] as const) {
    await expect(
      world.sql(
        `INSERT INTO rooms.kudos (org_id, space_id, from_user_id, to_user_id, text) VALUES ($1, $2, $3, $4, 'No')`,
        [space.orgId, space.uuid, from.userId, to.userId],
      ),
    ).rejects.toMatchObject({ code: 'MH022' })
  }
})

it('ROOM-110 only the sender takes kudos back, once, and it outlives the recipient’s leaving', async () => {
  const space = await world.space()
  const { room, host, people } = await standup(world, { space, people: 1 })
  const member = people[0]!
  const { kudos } = await thank(host, space, member, room)
  await member.mutate('spaceLeave', { id: space.id })
  expect((await host.run(WALL, { id: space.id })).space.kudos.nodes).toHaveLength(1)
  expect(await takeBack(member, kudos.id)).toMatchObject({ code: 'NOT_FOUND' })
  expect(await takeBack(await world.member({ space, spaceRole: 'owner' }), kudos.id)).toMatchObject({
    code: 'FORBIDDEN',
  })
  const gone = await Promise.all([takeBack(host, kudos.id), takeBack(host, kudos.id)])
  expect(gone.map(({ __typename }) => __typename).sort()).toEqual(['KudosDeletePayload', 'NotFoundError'])
  expect(await world.facts({ room })).toEqual(expect.arrayContaining(['kudos.given', 'kudos.deleted']))
})

it('ROOM-109, ROOM-171 members hear of kudos live, a guest of the version alone', async () => {
  const space = await world.space()
  const { room, host, people } = await standup(world, { space, people: 1 })
  const guest = await world.guest(room)
  const query = `subscription ($roomId: ID!) { roomEvents(roomId: $roomId) { __typename version
    ... on KudosGiven { kudos { text to { id } } } ... on KudosRemoved { kudosId }
    ... on RoomSnapshot { room { standup { kudos { text } } } } } }`
  const streams = [people[0]!, guest].map((viewer) =>
    openRoomStream({ url: viewer.client.url, token: viewer.client.token!, variables: { roomId: room.id }, query }),
  )
  for (const stream of streams) await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
  const { kudos } = await thank(host, space, people[0]!, room)
  await takeBack(host, kudos.id)
  const [ofMember, ofGuest] = streams
  const given = await ofMember!.next(({ __typename }) => __typename === 'KudosGiven')
  expect(given.kudos).toEqual({ text: 'Thank you', to: { id: people[0]!.id } })
  const removed = await ofMember!.next(({ __typename }) => __typename === 'KudosRemoved')
  expect(removed).toMatchObject({ kudosId: kudos.id, version: String(Number(given.version) + 1) })
  await ofGuest!.next(({ version }) => version === removed.version)
  expect(JSON.stringify(ofGuest!.events)).not.toMatch(/Kudos|Thank/)
  for (const stream of streams) stream.close()
})

it('ROOM-109, ROOM-110 kudos are taken back in a room that is done, and while their room is deleted', async () => {
  const space = await world.space()
  const { room, host, people } = await standup(world, { space, people: 1 })
  const first = await thank(host, space, people[0]!, room)
  const second = await thank(host, space, people[0]!, room)
  await host.mutate('roomEnd', { roomId: room.id })
  expect(await takeBack(host, first.kudos.id)).toMatchObject({ kudosId: first.kudos.id })
  const deleting = await world.hold('DELETE FROM rooms.rooms WHERE id = $1', [room.uuid])
  const taken = takeBack(host, second.kudos.id)
  await world.untilBlocked()
  await deleting.release()
  expect(await taken).toMatchObject({ kudosId: second.kudos.id })
})
