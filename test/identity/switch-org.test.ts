import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import { revokeMembership } from '../../src/identity/index.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { type EventStream, openEventStream } from '../support/event-stream.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'
import { asMutation, callerFor, factsAbout } from './identity-app.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world?.close())

type There = { person: Actor; orgId: string; id: string; owner: Actor }

/** A member of the world's org who is one of another org too. */
async function memberOfTwo(role = 'admin'): Promise<There> {
  const [person, owner] = [await world.member(), await world.otherOrg()]
  const { orgId } = owner
  await world.sql(
    `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, $3, $4, now())`,
    [orgId, person.userId, role, `u-${randomBytes(8).toString('hex')}`],
  )
  return { person, orgId, id: encodeId('Org', orgId), owner }
}

const switchTo = (person: Actor, orgId: string) =>
  person.mutate('sessionSwitchOrg', { orgId }, 'viewer { standing org { id } orgs { id } session { id } }')
const orgOf = async ({ sessionId }: Actor) =>
  (await world.sql<{ org_id: string }>('SELECT org_id FROM identity.sessions WHERE id = $1', [sessionId]))[0]!.org_id
const notThere = { __typename: 'NotFoundError', path: ['input', 'orgId'] }

describe('switching orgs', () => {
  it('ID-17 makes the other org the active one, and the one used last', async () => {
    const { person, orgId, id } = await memberOfTwo()
    expect(await switchTo(person, id)).toMatchObject({
      __typename: 'SessionSwitchOrgPayload',
      viewer: {
        standing: 'ADMIN',
        org: { id },
        orgs: [{ id }, { id: encodeId('Org', world.org.id) }],
        session: { id: encodeId('Session', person.sessionId) },
      },
    })
    expect(await person.run('{ viewer { standing org { id } } }')).toEqual({
      viewer: { standing: 'ADMIN', org: { id } },
    })
    expect(await person.run('query ($id: ID!) { node(id: $id) { id } }', { id: world.home.id })).toEqual({ node: null })
    const facts = await world.sql(
      'SELECT event_type, org_id, actor_user_id, payload FROM platform.audit_events WHERE target_id = $1',
      [person.sessionId],
    )
    expect(facts).toEqual([
      { event_type: 'session.switched', org_id: orgId, actor_user_id: person.userId, payload: {} },
    ])
  })

  it('ID-17 changes and records nothing where one is already', async () => {
    const person = await world.member()
    const id = encodeId('Org', world.org.id)
    expect(await switchTo(person, id)).toMatchObject({ viewer: { standing: 'MEMBER', org: { id } } })
    expect(await factsAbout(world, person.sessionId)).toEqual([])
    const [row] = await world.sql('SELECT last_used_at FROM identity.memberships WHERE user_id = $1', [person.userId])
    expect(row).toEqual({ last_used_at: null })
  })

  it('ID-17 lets the rest of the document run there, and in no other session', async () => {
    const { person, id } = await memberOfTwo('viewer')
    const other = await world.member()
    const { data } = await person.send(
      `mutation ($id: ID!) {
        sessionSwitchOrg(input: { orgId: $id }) { __typename }
        spaceCreate(input: { slug: "nowhere", name: "Nowhere" }) { __typename }
        viewerUpdate(input: { avatarIcon: "owl" }) { ... on ViewerUpdatePayload { viewer { org { id } } } }
      }`,
      { id },
    )
    expect(data).toEqual({
      sessionSwitchOrg: { __typename: 'SessionSwitchOrgPayload' },
      spaceCreate: { __typename: 'ForbiddenError' },
      viewerUpdate: { viewer: { org: { id } } },
    })
    expect(await orgOf(other)).toBe(world.org.id)
  })

  it('ID-2 works for whoever has no standing in the present org', async () => {
    const { person, id } = await memberOfTwo()
    await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1 AND org_id = $2', [
      person.userId,
      world.org.id,
    ])
    expect((await person.send('{ org { id } }')).errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
    expect(await switchTo(person, id)).toMatchObject({ viewer: { standing: 'ADMIN', org: { id } } })
    // And there is no way back.
    expect(await switchTo(person, encodeId('Org', world.org.id))).toMatchObject(notThere)
  })

  it('ID-17 finds no org that one is no live member of, whatever it is', async () => {
    const person = await world.member()
    const foreign = await world.otherOrg()
    const [revoked, invited] = [await memberOfTwo(), await memberOfTwo()]
    await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1 AND org_id = $2', [
      revoked.person.userId,
      revoked.orgId,
    ])
    await world.sql('UPDATE identity.memberships SET joined_at = NULL WHERE user_id = $1 AND org_id = $2', [
      invited.person.userId,
      invited.orgId,
    ])
    const answers = [
      await switchTo(person, encodeId('Org', newId())),
      await switchTo(person, encodeId('Org', foreign.orgId)),
      await switchTo(revoked.person, revoked.id),
      await switchTo(invited.person, invited.id),
    ]
    expect(answers[0]).toMatchObject(notThere)
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    for (const each of [person, revoked.person, invited.person]) expect(await orgOf(each)).toBe(world.org.id)
  })

  it('ID-17 goes to an archived org, and to none that is being purged', async () => {
    const { person, id, orgId } = await memberOfTwo()
    const set = (columns: string) => world.sql(`UPDATE identity.orgs SET ${columns} WHERE id = $1`, [orgId])
    await set(`status = 'archived', archived_at = now()`)
    expect(await switchTo(person, id)).toMatchObject({ viewer: { org: { id } } })
    await switchTo(person, encodeId('Org', world.org.id))
    await set(`status = 'purging'`)
    expect(await switchTo(person, id)).toMatchObject(notThere)
    await set(`status = 'purged', purged_at = now(), name = '', slug = 'purged-' || id, settings = '{}'`)
    expect(await switchTo(person, id)).toMatchObject(notThere)
    expect(await orgOf(person)).toBe(world.org.id)
  })

  it('ID-17 is not for anonymous people, guests and meeting clients, whose person may be a member there', async () => {
    const { person, id } = await memberOfTwo()
    const { room } = await world.pokerRoom()
    for (const each of [await world.embedded(person), await world.anonymous(), await world.guest(room)]) {
      for (const to of [id, encodeId('Org', world.org.id), encodeId('Org', newId())]) {
        expect(await switchTo(each, to)).toMatchObject({ __typename: 'ForbiddenError' })
      }
      expect(await orgOf(each)).toBe(world.org.id)
    }
    for (const { client } of [await world.agent(), await world.adminKey()]) {
      const { data } = await client.send(`mutation { sessionSwitchOrg(input: { orgId: "${id}" }) { __typename } }`)
      expect(data).toEqual({ sessionSwitchOrg: { __typename: 'ForbiddenError' } })
    }
    const { errors } = await world.app
      .client()
      .send(`mutation { sessionSwitchOrg(input: { orgId: "${id}" }) { __typename } }`)
    expect(errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }])
  })
})

describe('what runs at the same time', () => {
  it('ID-17 waits for a revocation that is under way, and stays', async () => {
    const { person, id, orgId } = await memberOfTwo()
    const held = await world.hold(
      'UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1 AND org_id = $2',
      [person.userId, orgId],
    )
    const switched = switchTo(person, id)
    await world.untilBlocked()
    await held.release()
    expect(await switched).toMatchObject(notThere)
    expect(await orgOf(person)).toBe(world.org.id)
  })

  it('ID-17, 38 leaves no open session in the org that somebody is being removed from', async () => {
    for (let round = 0; round < 12; round++) {
      const { person, id, orgId, owner } = await memberOfTwo('member')
      const admin = await callerFor(owner)
      await Promise.all([
        switchTo(person, id),
        asMutation(admin, (caller) => revokeMembership(caller, { userId: person.userId })),
      ])
      const left = await world.sql(
        'SELECT id FROM identity.sessions WHERE user_id = $1 AND org_id = $2 AND revoked_at IS NULL',
        [person.userId, orgId],
      )
      expect(left).toEqual([])
    }
  })

  it('ID-15, 17 moves no session that is being ended', async () => {
    const { person, id } = await memberOfTwo()
    const held = await world.hold(
      `UPDATE identity.sessions SET revoked_at = now(), revoke_reason = 'user' WHERE id = $1`,
      [person.sessionId],
    )
    const switched = person.attempt('sessionSwitchOrg', { orgId: id })
    await world.untilBlocked()
    await held.release()
    expect((await switched).errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }])
    expect(await orgOf(person)).toBe(world.org.id)
    expect(await factsAbout(world, person.sessionId)).toEqual([])
  })

  it('ID-17, PLAT-33 ends the streams of the old org within a second, over SSE and WebSocket, and no other', async () => {
    const { person, id } = await memberOfTwo()
    const { room } = await world.pokerRoom()
    const stays = await world.member()
    const url = `${world.app.url}/graphql`
    const subscription = 'subscription ($roomId: ID!) { roomEvents(roomId: $roomId) { __typename version } }'
    const follow = ({ client }: Actor): Promise<EventStream> =>
      openEventStream(url, client.token!, subscription, { roomId: room.id })
    const [sse, other] = [await follow(person), await follow(stays)]
    const socket = openRoomStream({ url, token: person.client.token!, variables: { roomId: room.id } })
    await Promise.all([sse.next(({ data }) => data?.roomEvents), other.next(({ data }) => data?.roomEvents)])
    await socket.next(({ __typename }) => __typename === 'RoomSnapshot')

    const began = Date.now()
    await switchTo(person, id)
    await expect.poll(() => sse.ended && socket.closed !== undefined, { interval: 20 }).toBe(true)
    expect(Date.now() - began).toBeLessThan(3_000)
    expect(other.ended).toBe(false)
    for (const stream of [sse, other, socket]) stream.close()
  })
})
