import { afterAll, beforeAll, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import type { Actor } from '../support/actor.ts'
import type { World } from '../support/world.ts'
import { factsAbout, givePassword, startIdentityApp } from './identity-app.ts'

let world: World

beforeAll(async () => {
  world = await startIdentityApp()
})
afterAll(() => world?.close())

const PROFILE = 'viewer { user { displayName avatarIcon } notificationSounds }'
const change = (actor: Actor, input: object) => actor.mutate('viewerUpdate', input, PROFILE)

it('ID-2 tells nobody nothing, and does not fail', async () => {
  const everything = `{ viewer { user { id } standing org { id } orgs { id } session { id }
    sessions(first: 5) { totalCount nodes { id } pageInfo { hasNextPage } } notificationSounds } }`
  expect((await world.app.client().send(everything)).data).toEqual({
    viewer: {
      user: null,
      standing: null,
      org: null,
      orgs: [],
      session: null,
      sessions: { totalCount: 0, nodes: [], pageInfo: { hasNextPage: false } },
      notificationSounds: null,
    },
  })
})

it('ID-2 tells everybody who they are and how far they reach', async () => {
  const { room } = await world.pokerRoom()
  const callers: [Actor, string, string][] = [
    [world.owner, 'OWNER', 'registered'],
    [await world.member({ role: 'admin' }), 'ADMIN', 'registered'],
    [await world.member(), 'MEMBER', 'registered'],
    [await world.viewer(), 'VIEWER', 'registered'],
    [await world.anonymous(), 'PARTICIPANT', 'anonymous'],
    [await world.embedded(), 'PARTICIPANT', 'registered'],
    [await world.guest(room), 'GUEST', 'guest'],
  ]
  for (const [actor, standing, account] of callers) {
    const orgs = account === 'registered' && standing !== 'PARTICIPANT' ? [{ slug: world.org.slug, standing }] : []
    expect(
      await actor.run(
        '{ viewer { user { id account } standing org { slug } orgs { slug standing } session { id isCurrent } } org { slug } }',
      ),
    ).toEqual({
      viewer: {
        user: { id: actor.id, account: account.toUpperCase() },
        standing,
        org: { slug: world.org.slug },
        orgs,
        session: { id: encodeId('Session', actor.sessionId), isCurrent: true },
      },
      org: { slug: world.org.slug },
    })
  }
})

it('ID-10 shows an email to its person and to owners and admins of a shared org, else null', async () => {
  const person = await world.member()
  const email = await givePassword(world, person)
  const see = async (actor: Actor) =>
    (await actor.run('query ($id: ID!) { node(id: $id) { ... on User { email } } }', { id: person.id })).node

  expect(await see(person)).toEqual({ email })
  expect(await see(world.owner)).toEqual({ email })
  expect(await see(await world.member({ role: 'admin' }))).toEqual({ email })
  for (const actor of [await world.member(), await world.viewer(), await world.anonymous(), await world.embedded()]) {
    expect(await see(actor)).toEqual({ email: null })
  }
  expect(await see(await world.otherOrg())).toBeNull()
})

it('ID-10 has no hash in the schema, and address, user agent and sounds nowhere but on one’s own', async () => {
  const { __schema } = await world.owner.run('{ __schema { types { name fields { name } } } }')
  const fields = (__schema.types as { name: string; fields: { name: string }[] | null }[]).flatMap(({ name, fields }) =>
    (fields ?? []).map((field) => `${name}.${field.name}`),
  )
  expect(fields.filter((name) => /hash/i.test(name))).toEqual([])
  expect(fields.filter((name) => /\.(ip|userAgent|notificationSounds)$/.test(name))).toEqual([
    'Session.ip',
    'Session.userAgent',
    'Viewer.notificationSounds',
  ])
})

it('ID-10 lists one’s own sessions that hold, newest first, with address and user agent as first seen', async () => {
  const person = await world.member()
  const [, older] = [await world.embedded(person), await world.embedded(person)]
  await world.sql(`UPDATE identity.sessions SET ip = '192.0.2.7', user_agent = 'Browser' WHERE id = $1`, [
    person.sessionId,
  ])
  await world.sql(`UPDATE identity.sessions SET created_at = now() - interval '1 h' WHERE id = $1`, [older.sessionId])
  await world.sql(
    `INSERT INTO identity.sessions (org_id, user_id, token_hash, method, revoked_at, revoke_reason)
     VALUES ($1, $2, sha256('revoked one'), 'password', now(), 'user')`,
    [person.orgId, person.userId],
  )
  const page = (args: string) =>
    person.run(
      `{ viewer { sessions(${args}) { totalCount nodes { id ip userAgent } pageInfo { endCursor hasNextPage } } } }`,
    )

  const { viewer } = await page('first: 2')
  expect(viewer.sessions).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } })
  const rest = await page(`first: 2, after: "${viewer.sessions.pageInfo.endCursor}"`)
  expect(rest.viewer.sessions.nodes.map(({ id }: { id: string }) => id)).toEqual([encodeId('Session', older.sessionId)])
  expect(viewer.sessions.nodes).toContainEqual({
    id: encodeId('Session', person.sessionId),
    ip: '192.0.2.7',
    userAgent: 'Browser',
  })
})

it('ID-11 changes name, icon and sounds, records the names of the fields and no more', async () => {
  const person = await world.member()
  expect(
    await change(person, { displayName: '  A\u030ange  ', avatarIcon: '🦊', notificationSounds: true }),
  ).toMatchObject({
    viewer: { user: { displayName: 'Ånge', avatarIcon: '🦊' }, notificationSounds: true },
  })
  expect(await change(person, { avatarIcon: '' })).toMatchObject({
    viewer: { user: { displayName: 'Ånge', avatarIcon: '' }, notificationSounds: true },
  })
  expect(await factsAbout(world, person.userId)).toMatchObject([
    {
      type: 'user.updated',
      actorUserId: person.userId,
      payload: { fields: ['displayName', 'avatarIcon', 'notificationSounds'] },
    },
    { type: 'user.updated', payload: { fields: ['avatarIcon'] } },
  ])
})

it('ID-11, PLAT-13 records nothing when nothing changes', async () => {
  const person = await world.member()
  const { displayName } = (await person.run('{ viewer { user { displayName } } }')).viewer.user
  for (const input of [{}, { displayName }, { avatarIcon: '', notificationSounds: false }]) {
    expect(await change(person, input)).toMatchObject({ __typename: 'ViewerUpdatePayload' })
  }
  expect(await factsAbout(world, person.userId)).toEqual([])
})

it('ID-11 lets two people have one name', async () => {
  for (const person of [await world.member(), await world.anonymous()]) {
    expect(await change(person, { displayName: 'Sam' })).toMatchObject({ viewer: { user: { displayName: 'Sam' } } })
  }
})

it('ID-11, PLAT-11 lets everybody with a name change it; a guest’s event names the room', async () => {
  const { room } = await world.pokerRoom()
  const guest = await world.guest(room)
  const everybody = [await world.viewer(), await world.anonymous(), await world.embedded(await world.member()), guest]
  for (const actor of everybody) {
    expect(await change(actor, { displayName: 'Robin' })).toMatchObject({ viewer: { user: { displayName: 'Robin' } } })
  }
  expect(await world.sql('SELECT room_id FROM platform.audit_events WHERE actor_user_id = $1', [guest.userId])).toEqual(
    [{ room_id: room.uuid }],
  )
})

it('ID-59 goes on in an archived org: it is the person’s own', async () => {
  const owner = await world.otherOrg()
  await world.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [owner.orgId])
  expect(await change(owner, { displayName: 'Archie' })).toMatchObject({ viewer: { user: { displayName: 'Archie' } } })
  expect(await owner.mutate('sessionEndAll', {}, 'ended')).toMatchObject({ ended: 1 })
})

it.each([
  ['an empty name', { displayName: '' }, 'displayName'],
  ['a name of blanks', { displayName: ' \u00a0 ' }, 'displayName'],
  ['65 characters', { displayName: '😀'.repeat(65) }, 'displayName'],
  ['a control character', { displayName: 'Ann\u009f' }, 'displayName'],
  ['a text-direction isolate', { displayName: 'Ann\u2066' }, 'displayName'],
  ['a NUL', { displayName: 'Ann\u0000' }, 'displayName'],
  ['a lone surrogate', { avatarIcon: '\udc00' }, 'avatarIcon'],
  ['an icon of 33 characters', { avatarIcon: 'x'.repeat(33) }, 'avatarIcon'],
  ['null for a name', { displayName: null }, 'displayName'],
  ['null for sounds', { notificationSounds: null }, 'notificationSounds'],
])('ID-11, PLAT-59 refuses %s and changes nothing', async (_, input, field) => {
  const person = await world.member()
  const before = await person.run(`{ ${PROFILE} }`)
  expect(await change(person, { notificationSounds: true, ...input })).toMatchObject({
    __typename: 'InvalidInputError',
    issues: [{ path: ['input', field] }],
  })
  expect(await person.run(`{ ${PROFILE} }`)).toEqual(before)
  expect(await factsAbout(world, person.userId)).toEqual([])
})

it.each([
  ['wrong JSON types', { displayName: 7 }],
  ['unknown fields', { email: 'new@example.org' }],
  ['fields of the row that are nobody’s to set', { account: 'registered' }],
])('ID-12 refuses %s before anything runs', async (_, input) => {
  const anonymous = await world.anonymous()
  const { data, errors } = await anonymous.attempt('viewerUpdate', input)
  expect(data).toBeUndefined()
  expect(errors?.[0]?.extensions.code).toBe('BAD_REQUEST')
})

it('ID-9, 10 keeps what one sees of others within the org', async () => {
  const [foreign, person] = [await world.otherOrg(), await world.member()]
  const see = async (actor: Actor, id: string) =>
    (await actor.run('query ($id: ID!) { node(id: $id) { id } }', { id })).node
  expect(await see(person, world.owner.id)).toEqual({ id: world.owner.id })
  expect(await see(person, foreign.id)).toBeNull()
  expect(await see(foreign, person.id)).toBeNull()
  expect(await see(person, encodeId('Org', foreign.orgId))).toBeNull()
  expect(await see(person, encodeId('Org', world.org.id))).toEqual({ id: encodeId('Org', world.org.id) })
})
