import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { openRoomStream, type Stream } from '../support/room-stream.ts'
import { digestOf } from './digest.ts'
import { endsSessions, MUTATION_PLAYS } from './mutation-plays.ts'
import { MUTATIONS, perform } from './perform.ts'
import { Stage } from './stage.ts'

/** ID-59: what goes on in an archived org. Whatever else a body brings is refused there. */
const GOES_ON: readonly RegExp[] = [
  // The org itself, and other orgs.
  /^org[A-Z]/,
  // A person's own sign-in and profile.
  /^(session|viewer|embedHandoff)[A-Z]/,
  /^(loginRequest|waitlistJoin)$/,
  // What takes reach away: archiving must not keep somebody in.
  /^(memberRevoke|memberLeave|apiKeyRevoke)$/,
  // Liveness, which is no fact.
  /^(spaceSeen|roomHeartbeat|roomLeave)$/,
]

let stage: Stage
const streams: Stream[] = []
beforeAll(async () => {
  stage = await Stage.open(await startApp({ MOOTHALL_ORG_CREATE: 'registered' }))
}, 60_000)
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close()
  await set(`status = 'active', archived_at = NULL`)
})
afterAll(() => stage?.world.close())

const set = (columns: string) =>
  stage.world.sql(`UPDATE identity.orgs SET ${columns} WHERE id = $1 AND status IN ('active', 'archived')`, [
    stage.world.org.id,
  ])
const archive = () => set(`status = 'archived', archived_at = now()`)

it.each(MUTATIONS)('ID-59 %s in an archived org', async (name) => {
  const { world } = stage
  const { by, prepare, input } = MUTATION_PLAYS[name]!
  const others = endsSessions(name) ? { member: await world.member({ space: null }) } : {}
  const play = await stage.play({ others, ...(by !== 'nobody' && !endsSessions(name) && { actor: stage.cast[by] }) })
  await prepare?.(world, play)
  await archive()
  const client = by === 'nobody' ? world.app.client() : play[by].client
  const before = await digestOf(world)
  const code = await perform(client, name, input?.(play))

  // As of an org or a link that is not there (ID-21, ROOM-153).
  if (/^(sessionCreateAnonymous|roomLinkRedeem)$/.test(name)) expect(code).toBe('NOT_FOUND')
  else if (GOES_ON.some((names) => names.test(name))) return expect(code).toBe('ok')
  else expect(code).toBe('ORG_ARCHIVED')
  expect(await digestOf(world)).toEqual(before)
})

it('ID-59 reads go on, for members, admins, guests and participants', async () => {
  const { world } = stage
  const { room, host } = await world.pokerRoom()
  const [guest, anonymous] = [await world.guest(room), await world.anonymous()]
  await archive()
  const { data, errors } = await host.send(
    `query ($id: ID!) { viewer { standing } org { status } spaces { totalCount } room(id: $id) { title } agents { totalCount }
      members { totalCount } activity { totalCount } }`,
    { id: room.id },
  )
  expect(errors).toBeUndefined()
  expect(data).toMatchObject({
    viewer: { standing: 'MEMBER' },
    org: { status: 'ARCHIVED' },
    room: { title: 'Planning' },
  })
  expect((await world.owner.send('{ auditEvents { totalCount } auditFeed { caughtUp } }')).errors).toBeUndefined()
  for (const who of [guest, anonymous]) expect(await who.room(room, 'title')).toEqual({ title: 'Planning' })
})

describe('ID-59 a room of an archived org', () => {
  const follow = (who: Actor, room: TestRoom, connectionId?: string): Stream => {
    const variables = { roomId: room.id, ...(connectionId && { connectionId }) }
    const stream = openRoomStream({ url: who.client.url, token: who.client.token!, variables })
    streams.push(stream)
    return stream
  }
  const isSnapshot = (event: { __typename: string }) => event.__typename === 'RoomSnapshot'
  const traces = async ({ uuid }: TestRoom) => {
    const [counts] = await stage.world.sql(
      `SELECT (SELECT version::int FROM rooms.rooms WHERE id = $1) AS version,
         (SELECT count(*)::int FROM rooms.room_participants WHERE room_id = $1) AS participants,
         (SELECT count(*)::int FROM rooms.room_presence WHERE room_id = $1) AS present,
         (SELECT count(*)::int FROM platform.audit_events WHERE room_id = $1) AS facts`,
      [uuid],
    )
    return counts
  }

  it('is followed by newcomers, members and guests, who join nothing and leave no trace', async () => {
    const { world } = stage
    const { room, host } = await world.pokerRoom()
    const newcomers = [await world.member(), await world.guest(room), await world.anonymous()]
    await world.sql('UPDATE rooms.rooms SET facilitator_id = NULL, version = version + 1 WHERE id = $1', [room.uuid])
    await archive()
    const before = await traces(room)
    for (const who of [...newcomers, host]) {
      const stream = follow(who, room)
      await stream.next(isSnapshot)
      expect(await traces(room)).toEqual(before)
      stream.close()
    }
    expect(await traces(room)).toEqual(before)
  })

  it('takes its followers in once the org takes writes again', async () => {
    const { world } = stage
    const { room } = await world.pokerRoom()
    const newcomer = await world.member()
    await archive()
    const connectionId = newId()
    const stream = follow(newcomer, room, connectionId)
    const { version } = await stream.next(isSnapshot)
    const beat = () => newcomer.mutate('roomHeartbeat', { roomId: room.id, connectionId })
    expect(await beat()).toMatchObject({ __typename: 'RoomHeartbeatPayload' })
    const quiet = await traces(room)
    await set(`status = 'active', archived_at = NULL`)
    expect(await beat()).toMatchObject({ __typename: 'RoomHeartbeatPayload' })
    await stream.next((event) => event.__typename === 'ParticipantJoined' && Number(event.version) > Number(version))
    expect(await traces(room)).toMatchObject({ participants: (quiet!['participants'] as number) + 1 })
  })

  it('loses who leaves it, and its round stays as it is', async () => {
    const { world } = stage
    const { room, voters } = await world.pokerRoom({ voters: 2, autoReveal: true })
    const [voter, leaver] = voters as [Actor, Actor]
    await voter.vote(room, '5')
    const [{ host }] = (await world.sql('SELECT facilitator_id AS host FROM rooms.rooms WHERE id = $1', [
      room.uuid,
    ])) as [{ host: string }]
    await world.sql('DELETE FROM rooms.room_presence WHERE room_id = $1 AND user_id = $2', [room.uuid, host])
    const [{ id }] = (await world.sql('SELECT connection_id AS id FROM rooms.room_presence WHERE user_id = $1', [
      leaver.userId,
    ])) as [{ id: string }]
    await archive()
    const before = await traces(room)
    expect(await leaver.mutate('roomLeave', { roomId: room.id, connectionId: id })).toMatchObject({
      __typename: 'RoomLeavePayload',
    })
    expect(await traces(room)).toEqual({ ...before, present: 1 })
  })
})

it('ID-38, 41, 59 a member is revoked from an archived org, with their spaces and rooms: what follows is the system’s', async () => {
  const { world } = stage
  const { room, host } = await world.pokerRoom()
  await archive()
  expect(await world.owner.mutate('memberRevoke', { userId: host.id })).toMatchObject({
    __typename: 'MemberRevokePayload',
  })
  const facts = await world.sql<{ type: string; actor: string; request: string }>(
    `SELECT event_type AS type, actor_kind AS actor, request_id AS request FROM platform.audit_events
     WHERE target_id = $1 OR room_id = $2 ORDER BY created_at, id`,
    [host.userId, room.uuid],
  )
  const actors = Object.fromEntries(facts.map(({ type, actor }) => [type, actor]))
  expect(actors).toMatchObject({
    'member.revoked': 'human',
    'space.member_removed': 'system',
    'room.participant_left': 'system',
  })
  expect(new Set(facts.filter(({ type }) => type in actors).map(({ request }) => request)).size).toBe(1)
  expect(await world.sql('SELECT 1 FROM rooms.space_members WHERE user_id = $1', [host.userId])).toEqual([])
  expect((await host.send('{ viewer { standing } }')).errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED')
})

it('ID-38, 41 in an org that takes writes the same is told in the name of who did it', async () => {
  const { world } = stage
  const { room, host } = await world.pokerRoom()
  await world.owner.mutate('memberRevoke', { userId: host.id })
  const facts = await world.sql<{ actor: string }>(
    `SELECT DISTINCT actor_kind AS actor FROM platform.audit_events WHERE room_id = $1 OR event_type = 'space.member_removed' AND target_id = $2`,
    [room.uuid, host.userId],
  )
  expect(facts).toEqual([{ actor: 'human' }])
})

it('ID-21, 59 refuses anonymous people as an org that is not there does', async () => {
  const { world } = stage
  const signIn = (orgSlug: string) =>
    world.app.client().send(
      `mutation ($input: SessionCreateAnonymousInput!) { sessionCreateAnonymous(input: $input) {
           __typename ... on Error { code message } ... on NotFoundError { path } } }`,
      { input: { orgSlug, displayName: 'Ann', delivery: 'BEARER' } },
    )
  expect((await signIn(world.org.slug)).data?.sessionCreateAnonymous.__typename).toBe('SessionCreateAnonymousPayload')
  await archive()
  expect((await signIn(world.org.slug)).data).toEqual((await signIn('no-such-org')).data)
})
