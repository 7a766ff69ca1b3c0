import { afterAll, beforeAll, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import type { Actor, Asker } from '../support/actor.ts'
import { openRoomStream } from '../support/room-stream.ts'
import type { World } from '../support/world.ts'
import { factsAbout, startIdentityApp } from './identity-app.ts'

let world: World
beforeAll(async () => {
  world = await startIdentityApp()
})
afterAll(() => world?.close())

const LIST = `query ($userId: ID, $after: String) { orgSessions(userId: $userId, first: 2, after: $after) {
  totalCount nodes { id user { id } method ip userAgent isCurrent } pageInfo { hasNextPage endCursor } } }`
const idOf = ({ sessionId }: Actor) => encodeId('Session', sessionId)
const sessionsOf = async (by: Asker, person?: { id: string }): Promise<string[] | null> => {
  const ids: string[] = []
  for (let after: string | null = null, more = true; more; ) {
    const { orgSessions } = await by.run(LIST, { userId: person?.id, after })
    if (!orgSessions) return null
    ids.push(...orgSessions.nodes.map(({ id }: { id: string }) => id))
    ;({ endCursor: after, hasNextPage: more } = orgSessions.pageInfo)
  }
  return ids
}
const change = (session: Actor, set: string) =>
  world.sql(`UPDATE identity.sessions SET ${set} WHERE id = $1`, [session.sessionId])

it('ID-18 lists to admins who is signed in to their org: what holds there, and nothing of elsewhere', async () => {
  const { room } = await world.pokerRoom()
  const holding = [
    world.owner,
    await world.member({ role: 'admin' }),
    await world.viewer(),
    await world.anonymous(),
    await world.embedded(),
    await world.guest(room),
  ]
  const dead: [Actor, string][] = [
    [await world.member(), `revoked_at = now(), revoke_reason = 'user'`],
    [await world.member(), `last_seen_at = now() - interval '14 days 1 second'`],
    [await world.member(), `created_at = now() - interval '30 days 1 second'`],
    [await world.embedded(), `expires_at = now() - interval '1 second'`],
  ]
  for (const [session, set] of dead) await change(session, set)
  const disabled = await world.member()
  await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [disabled.userId])
  const away = await world.member()
  await change(away, `org_id = '${(await memberElsewhere(away)).orgId}'`)

  for (const by of [world.owner, holding[1]!, await world.adminKey()]) {
    const ids = (await sessionsOf(by))!
    expect(ids).toEqual(expect.arrayContaining(holding.map(idOf)))
    for (const session of [...dead.map(([session]) => session), disabled, away])
      expect(ids).not.toContain(idOf(session))
    expect(new Set(ids).size).toBe(ids.length)
  }
  expect(await sessionsOf(world.owner, holding[3] as Actor)).toEqual([idOf(holding[3]!)])
})

it('ID-10 shows no address and no client of others, and one’s own to oneself', async () => {
  const person = await world.member()
  for (const session of [person, world.owner]) await change(session, `ip = '192.0.2.7', user_agent = 'a browser'`)
  const of = async ({ id }: Actor) => (await world.owner.run(LIST, { userId: id })).orgSessions.nodes
  expect(await of(person)).toMatchObject([{ ip: null, userAgent: null, isCurrent: false, method: 'PASSWORD' }])
  expect(await of(world.owner)).toEqual(
    expect.arrayContaining([expect.objectContaining({ ip: '192.0.2.7', userAgent: 'a browser', isCurrent: true })]),
  )
})

it('ID-6, 8 is for admins alone, and finds nobody of elsewhere', async () => {
  for (const by of [await world.member(), await world.viewer(), await world.anonymous(), await world.agent()]) {
    expect((await by.send(LIST)).errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
  }
  const stranger = await world.otherOrg()
  expect(await sessionsOf(world.owner, stranger)).toBeNull()
  expect(await sessionsOf(stranger)).toEqual([idOf(stranger)])
})

it('ID-18 lets admins and admin keys end a session of their org, once, and its streams with it', async () => {
  for (const by of [await world.member({ role: 'admin' }), await world.adminKey()]) {
    const { room, voters } = await world.pokerRoom({ voters: 1 })
    const person = voters[0]!
    const url = `${world.app.url}/graphql`
    const stream = openRoomStream({ url, token: person.client.token!, variables: { roomId: room.id } })
    await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
    const ended = await by.mutate('sessionRevoke', { id: idOf(person) }, 'session { id revokeReason }')
    expect(ended.session).toEqual({ id: idOf(person), revokeReason: 'ADMIN' })
    const since = Date.now()
    await expect.poll(() => stream.closed, { interval: 5 }).toBeTruthy()
    expect(Date.now() - since).toBeLessThan(1_000)
    stream.close()
    expect(await by.mutate('sessionRevoke', { id: idOf(person) })).toMatchObject({ __typename: 'SessionRevokePayload' })
    expect(await factsAbout(world, person.sessionId)).toMatchObject([
      { type: 'session.revoked', payload: { userId: person.userId, reason: 'admin' } },
    ])
  }
})

it('ID-7 lets no admin key sign out an owner, who could not come to revoke it', async () => {
  const owner = await world.member({ role: 'owner' })
  const [key, embedded] = [await world.adminKey(), await world.embedded(owner)]
  for (const session of [owner, embedded]) {
    expect(await key.mutate('sessionRevoke', { id: idOf(session) })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await factsAbout(world, session.sessionId)).toEqual([])
  }
  expect(await owner.run('{ viewer { standing } }')).toEqual({ viewer: { standing: 'OWNER' } })
  const admin = await world.member({ role: 'admin' })
  expect(await admin.mutate('sessionRevoke', { id: idOf(owner) })).toEqual({ __typename: 'SessionRevokePayload' })
})

it('ID-18 leaves alone what is active in another org', async () => {
  const away = await world.member()
  await change(away, `org_id = '${(await memberElsewhere(away)).orgId}'`)
  for (const by of [world.owner, await world.adminKey()]) {
    expect(await by.mutate('sessionRevoke', { id: idOf(away) })).toMatchObject({ code: 'NOT_FOUND' })
  }
})

/** Makes somebody a member of another org too. */
async function memberElsewhere({ userId }: Actor): Promise<Actor> {
  const owner = await world.otherOrg()
  await world.sql(
    `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, 'member', 'both', now())`,
    [owner.orgId, userId],
  )
  return owner
}
