import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { lastEvents, reset, TABLE } from './poker-table.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const CROWD = 2_000

it('ROOM-170, ROOM-172 a round of 2,000 votes reveals; an event too large to store is a gap that a snapshot fills', async () => {
  const { room, host } = await world.pokerRoom()
  await world.sql(
    `WITH people AS (
       INSERT INTO identity.users (id, type, account, home_org_id, display_name, status)
       SELECT platform.new_id(), 'human', 'anonymous', $1, 'Voter', 'active' FROM generate_series(1, ${CROWD})
       RETURNING id
     ), members AS (
       INSERT INTO rooms.space_members (org_id, space_id, user_id) SELECT $1, $2, id FROM people
     ), present AS (
       INSERT INTO rooms.room_presence (org_id, room_id, connection_id, user_id) SELECT $1, $3, id, id FROM people
     )
     INSERT INTO rooms.votes (org_id, room_id, story_id, user_id, card, round_version)
     SELECT $1, $3, $4, id, '5', $5 FROM people`,
    [room.orgId, uuidOf(room.spaceId), room.uuid, uuidOf(room.round.storyId), room.round.roundVersion],
  )
  const stream = openRoomStream({
    url: `${world.app.url}/graphql`,
    token: host.client.token!,
    variables: { roomId: room.id },
  })
  try {
    await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
    const before = BigInt((await host.room(room)).version)
    expect(await host.mutate('roomReveal', { roomId: room.id, roundVersion: room.round.roundVersion })).toMatchObject({
      __typename: 'RoomRevealPayload',
    })

    const { version, poker } = await host.room(room, TABLE)
    expect(BigInt(version)).toBe(before + 1n)
    expect(poker).toMatchObject({ revealed: true, currentStory: { result: { counted: CROWD } } })
    expect(await world.facts({ room })).toContain('round.revealed')
    expect((await lastEvents(world, room, 1))[0]?.version).not.toBe(version)
    const filled = await stream.next((event) => event.version === version)
    expect(filled).toMatchObject({ __typename: 'RoomSnapshot', room: { poker: { revealed: true } } })

    // What follows is told as ever once it is small enough again.
    await reset(host, room)
    await world.sql('DELETE FROM rooms.room_presence WHERE room_id = $1 AND user_id <> $2', [room.uuid, host.userId])
    await host.vote(room, '3')
    expect(await stream.next(({ __typename }) => __typename === 'VoteCast')).toMatchObject({ userId: host.id })
    await host.reveal(room)
    expect(await stream.next(({ __typename }) => __typename === 'RoundRevealed')).toMatchObject({
      result: { counted: 1 },
    })
  } finally {
    stream.close()
  }
})
