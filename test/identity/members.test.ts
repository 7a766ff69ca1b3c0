import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import { onMemberRoleChanged, onMembershipRevoked } from '../../src/identity/index.ts'
import { signInSettled } from '../../src/identity/sign-in/settings.ts'
import type { Actor } from '../support/actor.ts'
import { openRoomStream } from '../support/room-stream.ts'
import type { World } from '../support/world.ts'
import { factsAbout, startIdentityApp } from './identity-app.ts'
import { catchMail, giveEmail, mails, tokenOf, withToken } from './mailed.ts'

let world: World
let admin: Actor
beforeAll(async () => {
  world = await startIdentityApp()
  admin = await world.member({ role: 'admin' })
})
beforeEach(() => catchMail())
afterAll(() => world?.close())

const INVITED = 'email role username expiresAt'
const MEMBER = 'member { userId user { id displayName } email role username joinedAt revokedAt }'
const invite = (by: Actor, email: string, more: object = {}) =>
  by.mutate('memberInvite', { email, role: 'MEMBER', ...more }, INVITED)

let people = 0
const newEmail = (local = 'ada') => `${local}@${++people}.example.org`

const rowOf = async (email: string, orgId = world.org.id) => {
  const [row] = await world.sql<{
    id: string
    status: string
    role: string
    username: string
    joined: boolean
    revoked: boolean
  }>(
    `SELECT u.id, u.status, m.role, m.username, m.joined_at IS NOT NULL AS joined, m.revoked_at IS NOT NULL AS revoked
     FROM identity.users AS u LEFT JOIN identity.memberships AS m ON m.user_id = u.id AND m.org_id = $2
     WHERE u.email = $1`,
    [email, orgId],
  )
  return row
}
const tokensOf = (userId: string) =>
  world.sql<{ purpose: string; voided: boolean; days: number; created_by: string | null }>(
    `SELECT purpose, voided_at IS NOT NULL AS voided, created_by,
       extract(epoch FROM expires_at - created_at)::integer / 86400 AS days
     FROM identity.login_tokens WHERE user_id = $1 AND org_id = $2 ORDER BY created_at`,
    [userId, world.org.id],
  )
const memberFacts = async (userId: string) =>
  (await factsAbout(world, userId)).filter(({ type }) => type.startsWith('member.')).map(({ type }) => type)
const codes = (outcomes: { __typename: string; code?: string }[]) =>
  outcomes.map(({ __typename, code }) => code ?? __typename).toSorted()

describe('inviting', () => {
  it('ID-34 makes a person and a membership that wait, and mails a token of seven days', async () => {
    const email = newEmail()
    const invited = await invite(admin, ` ${email.toUpperCase()} `)
    expect(invited).toEqual({
      __typename: 'MemberInvitePayload',
      email,
      role: 'MEMBER',
      username: 'ada',
      expiresAt: expect.any(String),
    })
    const row = (await rowOf(email))!
    expect(row).toMatchObject({ status: 'invited', role: 'member', joined: false, revoked: false })
    expect(await tokensOf(row.id)).toEqual([{ purpose: 'invite', voided: false, days: 7, created_by: admin.userId }])
    await signInSettled()
    expect(mails).toMatchObject([{ to: email }])
    expect(await factsAbout(world, row.id)).toMatchObject([
      { type: 'member.invited', actorUserId: admin.userId, payload: { role: 'member' } },
    ])

    const signedIn = await withToken(world, tokenOf(mails[0]!))
    expect(signedIn).toMatchObject({ session: { method: 'INVITE', user: { id: encodeId('User', row.id) } } })
    expect(await rowOf(email)).toMatchObject({ status: 'active', joined: true })
    expect(await memberFacts(row.id)).toEqual(['member.invited', 'member.joined'])
  })

  it('ID-34 answers and shows the same whether or not the email had an account', async () => {
    const stranger = await world.otherOrg()
    const known = await giveEmail(world, stranger)
    const unknown = known.replace('mailed', 'nobody')
    const [first, second] = [await invite(admin, known), await invite(admin, unknown)]
    const shown = ({ email, username, expiresAt, ...rest }: typeof first) => ({
      ...rest,
      ofItself: email.startsWith(username),
      expires: expiresAt.slice(0, 10),
    })
    expect(shown(first)).toEqual(shown(second))

    // Nor do list and id tell who they are elsewhere, until they have accepted.
    const list =
      '{ members(filter: { state: { eq: INVITED } }) { nodes { userId user { displayName } email role joinedAt } } }'
    const { members } = await admin.run(list)
    const of = (email: string) => members.nodes.find((node: { email: string }) => node.email === email)
    const { userId: knownId, email: _, ...rest } = of(known)
    const { userId: unknownId, email: __, ...same } = of(unknown)
    expect(rest).toEqual(same)
    expect(rest).toEqual({ user: null, role: 'MEMBER', joinedAt: null })
    const nodes = await admin.run('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids: [knownId, unknownId] })
    expect(nodes).toEqual({ nodes: [null, null] })
    const named =
      'query ($name: String!) { members(filter: { displayName: { eq: $name } state: { eq: INVITED } }) { nodes { email } } }'
    const displayNames = await world.sql<{ name: string }>(
      'SELECT display_name AS name FROM identity.users WHERE email IN ($1, $2)',
      [known, unknown],
    )
    for (const { name } of displayNames) expect(await admin.run(named, { name })).toEqual({ members: { nodes: [] } })

    await signInSettled()
    await withToken(world, tokenOf(mails[0]!))
    expect((await admin.run('query ($id: ID!) { node(id: $id) { id } }', { id: knownId })).node).toEqual({
      id: stranger.id,
    })
    expect(await rowOf(known, stranger.orgId)).toMatchObject({ role: 'owner', joined: true }) // there nothing changed
  })

  it('ID-6, 34 gives nobody more than the inviter is', async () => {
    const [member, viewer] = [await world.member(), await world.viewer()]
    for (const role of ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER']) {
      const email = newEmail()
      for (const by of [member, viewer]) expect(await invite(by, email, { role })).toMatchObject({ code: 'FORBIDDEN' })
      expect(await rowOf(email)).toBeUndefined()
      const byAdmin = await invite(admin, email, { role })
      expect(byAdmin.code ?? byAdmin.role).toBe(role === 'OWNER' ? 'FORBIDDEN' : role)
      expect(await invite(world.owner, newEmail(), { role })).toMatchObject({ role })
    }
  })

  it('ID-37 lets no admin touch who is invited as an owner', async () => {
    const email = newEmail()
    await invite(world.owner, email, { role: 'OWNER' })
    const userId = encodeId('User', (await rowOf(email))!.id)
    expect(await invite(admin, email)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await admin.mutate('memberUpdate', { userId, role: 'MEMBER' })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await admin.mutate('memberRevoke', { userId })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await rowOf(email)).toMatchObject({ role: 'owner', revoked: false })
  })

  it('ID-35 voids the older token when somebody is invited again, five times an hour', async () => {
    const email = newEmail()
    for (let times = 1; times <= 5; times++) {
      expect(await invite(admin, email, { role: times % 2 ? 'VIEWER' : 'ADMIN' })).toMatchObject({ email })
    }
    const sixth = await admin.attempt('memberInvite', { email, role: 'MEMBER' })
    expect(sixth.errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }])
    const { id, role } = (await rowOf(email))!
    expect(role).toBe('viewer')
    expect((await tokensOf(id)).map(({ voided }) => voided)).toEqual([true, true, true, true, false])
    expect(await memberFacts(id)).toEqual(Array(5).fill('member.invited'))
    await signInSettled()
    expect(mails).toHaveLength(5)
    for (const old of mails.slice(0, 4))
      expect(await withToken(world, tokenOf(old))).toMatchObject({ code: 'SIGN_IN_FAILED' })
    expect(await withToken(world, tokenOf(mails[4]!))).toMatchObject({ session: { method: 'INVITE' } })
  })

  it('ID-35 refuses a live member, and opens the row of a revoked one again under its name', async () => {
    const person = await world.member({ role: 'admin' })
    const email = await giveEmail(world, person)
    expect(await invite(admin, email)).toMatchObject({ code: 'CONFLICT' })
    await admin.mutate('memberUpdate', { userId: person.id, username: `again-${people}` })
    await admin.mutate('memberRevoke', { userId: person.id })

    expect(await invite(admin, email, { role: 'VIEWER' })).toMatchObject({
      username: `again-${people}`,
      role: 'VIEWER',
    })
    expect(await rowOf(email)).toMatchObject({ role: 'viewer', status: 'active', joined: false, revoked: false })
    await signInSettled()
    await withToken(world, tokenOf(mails[0]!))
    expect(await rowOf(email)).toMatchObject({ role: 'viewer', joined: true })
    expect(await memberFacts(person.userId)).toEqual([
      'member.updated',
      'member.revoked',
      'member.invited',
      'member.joined',
    ])
  })

  it('ID-36, 38 voids the invitation of whoever is revoked before they accept', async () => {
    const email = newEmail()
    await invite(admin, email)
    const { id } = (await rowOf(email))!
    const revoked = await admin.mutate('memberRevoke', { userId: encodeId('User', id) }, MEMBER)
    expect(revoked.member).toMatchObject({ joinedAt: null, revokedAt: expect.any(String), user: null })
    expect((await tokensOf(id)).map(({ voided }) => voided)).toEqual([true])
    await signInSettled()
    expect(await withToken(world, tokenOf(mails[0]!))).toMatchObject({ code: 'SIGN_IN_FAILED' })
    expect(await rowOf(email)).toMatchObject({ status: 'invited', joined: false })
  })

  it('ID-34, 39 makes one person of ten invitations at once, from two orgs', async () => {
    const email = newEmail()
    const other = await world.otherOrg()
    const inviters = [admin, world.owner, admin, world.owner, other, other, other]
    const outcomes = await Promise.all(inviters.map((by) => invite(by, email)))
    expect(codes(outcomes)).toEqual(Array(7).fill('MemberInvitePayload'))
    expect(await world.sql('SELECT FROM identity.users WHERE email = $1', [email])).toHaveLength(1)
    const { id } = (await rowOf(email))!
    expect((await tokensOf(id)).filter(({ voided }) => !voided)).toHaveLength(1)
    expect(await rowOf(email, other.orgId)).toMatchObject({ id, joined: false })
  })

  it('ID-34 refuses what is no email, and says no word of it', async () => {
    for (const email of ['', 'nobody', '@', 'a b@c', `a@${'b'.repeat(260)}`]) {
      expect(await invite(admin, email)).toMatchObject({
        code: 'INVALID_INPUT',
        issues: [{ path: ['input', 'email'] }],
      })
    }
  })

  it('PLAT-10, ID-41 leaves nobody behind when the invitation fails', async () => {
    const email = newEmail()
    expect(await invite(admin, email, { username: 'plugin-zoo' })).toMatchObject({ code: 'CONFLICT' })
    expect(await invite(admin, email, { username: 'Not Legal' })).toMatchObject({ code: 'INVALID_INPUT' })
    const taken = (await invite(admin, newEmail())).username
    expect(await invite(admin, email, { username: taken.toUpperCase() })).toMatchObject({ code: 'CONFLICT' })
    expect(await rowOf(email)).toBeUndefined()
    expect(mails).toHaveLength(1)
  })
})

describe('an admin key', () => {
  it('ID-7 invites, changes and revokes in its own name, up to admins', async () => {
    const key = await world.adminKey()
    const email = newEmail()
    const input = { email, role: 'ADMIN' }
    expect(await key.mutate('memberInvite', input, INVITED)).toMatchObject({ email, role: 'ADMIN' })
    const { id } = (await rowOf(email))!
    expect(await tokensOf(id)).toMatchObject([{ purpose: 'invite', created_by: null }])
    const userId = encodeId('User', id)
    expect((await key.mutate('memberUpdate', { userId, role: 'VIEWER' }, MEMBER)).member).toMatchObject({ email })
    expect((await key.mutate('memberRevoke', { userId }, MEMBER)).member.revokedAt).not.toBeNull()
    const facts = await world.sql(
      `SELECT event_type AS type, actor_kind AS kind, actor_key_id AS key, actor_user_id AS actor
       FROM platform.audit_events WHERE target_id = $1 ORDER BY created_at, id`,
      [id],
    )
    const by = { kind: 'api_key', key: key.keyId, actor: null }
    expect(facts).toEqual(['invited', 'role_changed', 'revoked'].map((what) => ({ type: `member.${what}`, ...by })))
    await signInSettled()
    expect(mails).toMatchObject([{ to: email, text: expect.stringContaining('You are invited') }])
  })

  it('ID-6, 7 touches no owner, is nobody who could leave, and has no custody of spaces', async () => {
    const key = await world.adminKey()
    const [owner, member, space] = [await world.member({ role: 'owner' }), await world.member(), await world.space()]
    const refused: [string, object][] = [
      ['memberInvite', { email: newEmail(), role: 'OWNER' }],
      ['memberUpdate', { userId: owner.id, role: 'ADMIN' }],
      ['memberUpdate', { userId: owner.id, username: 'renamed' }],
      ['memberUpdate', { userId: member.id, role: 'OWNER' }],
      ['memberRevoke', { userId: owner.id }],
      ['spaceArchive', { id: space.id }],
      ['spaceUnarchive', { id: space.id }],
      ['spaceClaim', { id: space.id }],
      ['spaceAddOwner', { id: space.id, userId: owner.id }],
      ['spaceDelete', { id: space.id, confirmSlug: space.slug }],
    ]
    for (const [mutation, input] of refused)
      expect(await key.mutate(mutation, input)).toMatchObject({ code: 'FORBIDDEN' })
    const { memberLeave } = await key.run('mutation { memberLeave { __typename ... on Error { code } } }')
    expect(memberLeave).toMatchObject({ code: 'FORBIDDEN' })
    expect(await memberFacts(owner.userId)).toEqual([])
  })
})

describe('usernames', () => {
  const nameOf = async ({ userId }: Actor) =>
    (
      await world.sql<{ username: string }>('SELECT username FROM identity.memberships WHERE user_id = $1', [userId])
    )[0]!.username

  it('ID-40 go to one of those who want them at once', async () => {
    for (let round = 0; round < 10; round++) {
      const name = `Wanted.${round}`
      const targets = await Promise.all([world.member(), world.member(), world.member()])
      const outcomes = await Promise.all([
        ...targets.map(({ id }) => admin.mutate('memberUpdate', { userId: id, username: name })),
        invite(world.owner, newEmail(), { username: name.toLowerCase() }),
      ])
      expect(outcomes.filter(({ code }) => code === undefined)).toHaveLength(1)
      expect(outcomes.filter(({ code }) => code === 'CONFLICT')).toHaveLength(3)
      expect(
        await world.sql('SELECT FROM identity.memberships WHERE username = $1', [name.toLowerCase()]),
      ).toHaveLength(1)
    }
  })

  it('ID-40, 42 share their namespace with agents, and keep out of reserved names', async () => {
    const person = await world.member()
    await makeAgent('robot')
    for (const username of [
      'robot',
      'ROBOT',
      'org',
      'system',
      'console',
      'admin',
      'moothall',
      'all',
      'me',
      'plugin-x',
    ]) {
      expect(await admin.mutate('memberUpdate', { userId: person.id, username }), username).toMatchObject({
        code: 'CONFLICT',
      })
    }
    expect(await invite(admin, newEmail('robot'))).toMatchObject({ username: 'robot-2' })
    expect(await invite(admin, newEmail('Admin'))).toMatchObject({ username: 'admin-2' })
    expect(await invite(admin, newEmail('Ünï+tag'))).toMatchObject({ username: 'uni-tag' })
  })

  it('ID-37, 40 record that they changed, once, and not what to', async () => {
    const person = await world.member()
    const name = `renamed-${people}`
    const changed = await admin.mutate('memberUpdate', { userId: person.id, username: name.toUpperCase() }, MEMBER)
    expect(changed.member).toMatchObject({ username: name, userId: person.id, user: { id: person.id } })
    await admin.mutate('memberUpdate', { userId: person.id, username: name })
    await admin.mutate('memberUpdate', { userId: person.id })
    expect(await factsAbout(world, person.userId)).toMatchObject([
      { type: 'member.updated', payload: { fields: ['username'] } },
    ])
    expect(await nameOf(person)).toBe(name)
  })

  async function makeAgent(name: string): Promise<void> {
    await world.sql(
      `WITH made AS (INSERT INTO identity.users (type, account, home_org_id, display_name, status)
         VALUES ('agent', 'agent', $1, $2, 'active') RETURNING id)
       INSERT INTO identity.agents (org_id, id, name) SELECT $1, id, $2 FROM made`,
      [world.org.id, name],
    )
  }
})

describe('roles', () => {
  it('ID-3 govern the very next request, also the next field of the same document', async () => {
    const person = await world.member({ role: 'admin' })
    const answer = await person.run(
      `mutation ($id: ID!, $other: ID!) {
        down: memberUpdate(input: { userId: $id, role: MEMBER }) { __typename }
        again: memberUpdate(input: { userId: $other, role: VIEWER }) { __typename ... on Error { code } }
      }`,
      { id: person.id, other: (await world.member()).id },
    )
    expect(answer).toMatchObject({ down: { __typename: 'MemberUpdatePayload' }, again: { code: 'FORBIDDEN' } })
    expect(await person.run('{ viewer { standing } }')).toEqual({ viewer: { standing: 'MEMBER' } })
    expect((await person.send('{ auditEvents { totalCount } }')).errors).toMatchObject([
      { extensions: { code: 'FORBIDDEN' } },
    ])
  })

  it('ID-2, 37 are taken by nobody who lost their own while they waited', async () => {
    const [late, person] = [await world.member({ role: 'admin' }), await world.member()]
    for (const [mutation, input] of [
      ['memberUpdate', { userId: person.id, role: 'VIEWER' }],
      ['memberRevoke', { userId: person.id }],
      ['memberInvite', { email: newEmail(), role: 'MEMBER' }],
    ] as const) {
      const held = await world.hold(`UPDATE identity.memberships SET role = 'member' WHERE user_id = $1`, [late.userId])
      const change = late.mutate(mutation, input)
      await world.untilBlocked()
      await held.release()
      expect(await change, mutation).toMatchObject({ code: 'FORBIDDEN' })
      await world.sql(`UPDATE identity.memberships SET role = 'admin' WHERE user_id = $1`, [late.userId])
    }
    expect(await memberFacts(person.userId)).toEqual([])
  })

  it('ID-39 leaves one owner when two demote each other, 200 times', async () => {
    const first = await world.otherOrg()
    const second = await coOwner(first)
    for (let round = 0; round < 200; round++) {
      const outcomes = await Promise.all([
        first.mutate('memberUpdate', { userId: second.id, role: 'MEMBER' }),
        second.mutate('memberUpdate', { userId: first.id, role: 'MEMBER' }),
      ])
      // Whose request came in after the other's commit was refused as an owner no longer.
      expect([
        ['LAST_OWNER', 'MemberUpdatePayload'],
        ['FORBIDDEN', 'MemberUpdatePayload'],
      ]).toContainEqual(codes(outcomes))
      const owners = await world.sql(`SELECT FROM identity.memberships WHERE org_id = $1 AND role = 'owner'`, [
        first.orgId,
      ])
      expect(owners).toHaveLength(1)
      await world.sql(`UPDATE identity.memberships SET role = 'owner' WHERE org_id = $1`, [first.orgId])
    }
  }, 60_000)

  it.each([
    [
      'demote each other',
      'MemberUpdatePayload',
      ({ id }: Actor) => `memberUpdate(input: { userId: "${id}", role: MEMBER })`,
    ],
    ['revoke each other', 'MemberRevokePayload', ({ id }: Actor) => `memberRevoke(input: { userId: "${id}" })`],
    ['leave', 'MemberLeavePayload', () => 'memberLeave'],
  ])('ID-39 tells two owners who %s at the same moment that one must stay', async (_way, done, field) => {
    const first = await world.otherOrg()
    const second = await coOwner(first)
    const end = async (by: Actor, other: Actor) =>
      (await by.run(`mutation { end: ${field(other)} { __typename ... on Error { code } } }`)).end
    const held = await world.hold('SELECT FROM identity.memberships WHERE org_id = $1 FOR UPDATE', [first.orgId])
    const both = Promise.all([end(first, second), end(second, first)])
    await world.untilBlocked(2)
    await held.release()
    expect(codes(await both)).toEqual(['LAST_OWNER', done])
  })

  it('ID-39 keeps the last owner: from being demoted, revoked, and from leaving', async () => {
    const owner = await world.otherOrg()
    for (const [mutation, input] of [
      ['memberUpdate', { userId: owner.id, role: 'ADMIN' }],
      ['memberRevoke', { userId: owner.id }],
      ['memberLeave', undefined],
    ] as const) {
      const outcome = input
        ? await owner.mutate(mutation, input)
        : (await owner.run('mutation { memberLeave { __typename ... on Error { code } } }')).memberLeave
      expect(outcome, mutation).toMatchObject({ code: 'LAST_OWNER' })
    }
    expect(await owner.run('{ viewer { standing } }')).toEqual({ viewer: { standing: 'OWNER' } })
    expect(await memberFacts(owner.userId)).toEqual([])
  })

  /** Somebody else who owns the org of an owner. */
  async function coOwner(owner: Actor): Promise<Actor> {
    const person = await world.member()
    await world.sql(
      `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, 'owner', $3, now())`,
      [owner.orgId, person.userId, `o-${person.userId.slice(-12)}`],
    )
    await world.sql('UPDATE identity.sessions SET org_id = $1 WHERE id = $2', [owner.orgId, person.sessionId])
    return person
  }
})

describe('leaving', () => {
  const LEAVE =
    'mutation { memberLeave { __typename ... on MemberLeavePayload { orgId viewer { standing user { id } } } ... on Error { code } } }'

  it('ID-38 ends the membership, its sessions and spaces, and leaves the caller nobody', async () => {
    const space = await world.space()
    const person = await world.member({ space })
    const { memberLeave } = await person.run(LEAVE)
    expect(memberLeave).toEqual({
      __typename: 'MemberLeavePayload',
      orgId: encodeId('Org', world.org.id),
      viewer: { standing: null, user: null },
    })
    expect((await person.send('{ viewer { standing } }')).errors).toMatchObject([
      { extensions: { code: 'UNAUTHENTICATED' } },
    ])
    expect(await world.sql('SELECT FROM rooms.space_members WHERE user_id = $1', [person.userId])).toEqual([])
    expect(await memberFacts(person.userId)).toEqual(['member.left'])
    const { member } = await admin.run('query ($id: ID!) { member(userId: $id) { revokedAt user { id } } }', {
      id: person.id,
    })
    expect(member).toEqual({ revokedAt: expect.any(String), user: { id: person.id } })
  })

  it('ID-38 runs nothing more of the document as a member', async () => {
    const person = await world.viewer()
    const answer = await person.send(
      'mutation { memberLeave { __typename } memberInvite(input: { email: "a@b.c", role: VIEWER }) { __typename } }',
    )
    expect(answer.data).toMatchObject({ memberLeave: { __typename: 'MemberLeavePayload' }, memberInvite: null })
    expect(answer.errors).toMatchObject([{ path: ['memberInvite'], extensions: { code: 'UNAUTHENTICATED' } }])
  })

  it('ID-38, PLAT-33 ends the streams of a revoked member within a second', async () => {
    const { room, voters } = await world.pokerRoom({ voters: 2 })
    const [gone, leaver] = voters as [Actor, Actor]
    const url = `${world.app.url}/graphql`
    const follow = ({ client }: Actor, query?: string) =>
      openRoomStream({
        url,
        token: client.token!,
        variables: query ? {} : { roomId: room.id },
        ...(query && { query }),
      })
    const streams = [follow(gone), follow(leaver)]
    await Promise.all(streams.map((stream) => stream.next(({ __typename }) => __typename === 'RoomSnapshot')))
    for (const [stream, end] of [
      [streams[0]!, () => admin.mutate('memberRevoke', { userId: gone.id })],
      [streams[1]!, () => leaver.run(LEAVE)],
    ] as const) {
      await end()
      const since = Date.now()
      await expect.poll(() => stream.closed, { interval: 5 }).toBeTruthy()
      expect(Date.now() - since).toBeLessThan(1_000)
      stream.close()
    }
  })
})

describe('hooks', () => {
  it('ID-41 that fail undo revoking, leaving and new roles as a whole', async () => {
    const person = await world.member()
    let failing = true
    const fail = async ({ userId }: { userId: string }) => {
      if (failing && userId === person.userId) throw new Error('a hook fails')
    }
    onMembershipRevoked(fail)
    onMemberRoleChanged(fail)
    const attempts = [
      () => admin.attempt('memberRevoke', { userId: person.id }),
      () => admin.attempt('memberUpdate', { userId: person.id, role: 'VIEWER', username: 'undone' }),
      () => person.send('mutation { memberLeave { __typename } }'),
    ]
    for (const attempt of attempts) {
      expect((await attempt()).errors).toMatchObject([{ extensions: { code: 'INTERNAL' } }])
    }
    expect(await person.run('{ viewer { standing } member(username: "undone") { role } }')).toEqual({
      viewer: { standing: 'MEMBER' },
      member: null,
    })
    expect(await world.sql('SELECT FROM rooms.space_members WHERE user_id = $1', [person.userId])).toHaveLength(1)
    expect(await factsAbout(world, person.userId)).toEqual([])
    expect(await factsAbout(world, person.sessionId)).toEqual([])
    failing = false
    expect(await admin.mutate('memberRevoke', { userId: person.id })).toMatchObject({
      __typename: 'MemberRevokePayload',
    })
  })
})

describe('the list of members', () => {
  const list = async (by: Actor, args = '') => {
    const { data, errors } = await by.send(
      `{ members${args} { totalCount nodes { userId username joinedAt revokedAt } } }`,
    )
    return errors ? errors[0]!.extensions.code : (data.members?.nodes as { userId: string; username: string }[])
  }

  it('ID-37 is of live ones, and for admins of the others where they ask for them', async () => {
    const owner = await world.otherOrg()
    await invite(owner, newEmail('invited'))
    const inOrg = async (role: string) => {
      const person = await world.member()
      await world.sql(
        'INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, $3, $4, now())',
        [owner.orgId, person.userId, role, role],
      )
      await world.sql('UPDATE identity.sessions SET org_id = $1 WHERE id = $2', [owner.orgId, person.sessionId])
      return person
    }
    const [viewer, gone] = [await inOrg('viewer'), await inOrg('member')]
    await owner.mutate('memberRevoke', { userId: gone.id })
    const names = async (by: Actor, args?: string) => {
      const nodes = await list(by, args)
      return typeof nodes === 'string'
        ? nodes
        : nodes?.map(({ username }) => username.replace(/^u-.*/, 'owner')).toSorted()
    }
    for (const by of [owner, viewer]) {
      expect(await names(by)).toEqual(['owner', 'viewer'])
      expect(await names(by, '(filter: { role: { neq: OWNER } })')).toEqual(['viewer'])
    }
    const states = (filter: string) => `(filter: { ${filter} })`
    expect(await names(owner, states('state: { eq: INVITED }'))).toEqual(['invited'])
    expect(await names(owner, states('state: { eq: REVOKED }'))).toEqual(['member'])
    expect(await names(owner, states('state: { neq: LIVE }'))).toEqual(['invited', 'member'])
    expect(await names(owner, states('not: { or: [{ state: { in: [LIVE, REVOKED] } }] }'))).toEqual(['invited'])
    expect(await names(owner, states('state: { in: [LIVE, INVITED, REVOKED] }'))).toEqual([
      'invited',
      'member',
      'owner',
      'viewer',
    ])
    for (const filter of ['state: { eq: INVITED }', 'state: { eq: LIVE }', 'or: [{ not: { state: { eq: LIVE } } }]']) {
      expect(await names(viewer, states(filter))).toBe('FORBIDDEN')
    }
    const one = 'query ($id: ID!) { member(userId: $id) { username email } }'
    expect(await owner.run(one, { id: gone.id })).toEqual({ member: { username: 'member', email: null } })
    expect(await viewer.run(one, { id: gone.id })).toEqual({ member: null })
    expect(await viewer.run('{ member(username: "invited") { email } }')).toEqual({ member: null })
    expect(await owner.run('{ member(username: "INVITED") { email } }')).toEqual({
      member: { email: expect.stringContaining('invited@') },
    })
  })

  it('ID-4, 8 is for nobody of elsewhere: participants, guests, people of other orgs', async () => {
    const { room } = await world.pokerRoom()
    for (const actor of [await world.anonymous(), await world.guest(room), await world.embedded()]) {
      expect(await list(actor)).toBe('FORBIDDEN')
    }
    const stranger = await world.otherOrg()
    expect(await stranger.run('query ($id: ID!) { member(userId: $id) { role } }', { id: admin.id })).toEqual({
      member: null,
    })
    expect(await list(stranger)).toMatchObject([{ userId: stranger.id }])
  })

  it('PLAT-61 pages through every order to its end, whoever has not joined last', async () => {
    const owner = await world.otherOrg()
    for (let n = 0; n < 4; n++) await invite(owner, newEmail(`p${n}`))
    await world.sql(
      `UPDATE identity.memberships SET joined_at = now() WHERE org_id = $1 AND username IN ('p0', 'p2')`,
      [owner.orgId],
    )
    for (const orderBy of ['USERNAME', 'JOINED', 'JOINED_LAST']) {
      const seen: (string | null)[] = []
      for (let after: string | null = null, more = true; more; ) {
        const { members } = await owner.run(
          `query ($after: String) { members(first: 2, after: $after, orderBy: ${orderBy}, filter: { state: { in: [LIVE, INVITED] } }) {
            nodes { username joinedAt } pageInfo { hasNextPage endCursor } } }`,
          { after },
        )
        seen.push(...members.nodes.map((node: { username: string }) => node.username))
        ;({ endCursor: after, hasNextPage: more } = members.pageInfo)
      }
      expect(new Set(seen).size, orderBy).toBe(5)
      expect(seen, orderBy).toHaveLength(5)
      if (orderBy === 'USERNAME') expect(seen).toEqual(seen.toSorted())
      else expect(new Set(seen.slice(3))).toEqual(new Set(['p1', 'p3']))
    }
  })
})

describe('email addresses', () => {
  it('ID-10 show to oneself and to owners and admins of an org that both are of', async () => {
    const person = await world.member()
    const email = await giveEmail(world, person)
    const seenBy = async (by: Actor) =>
      (await by.run('query ($id: ID!) { node(id: $id) { ... on User { email } } }', { id: person.id })).node?.email
    expect(await seenBy(person)).toBe(email)
    for (const by of [admin, world.owner]) expect(await seenBy(by)).toBe(email)
    for (const by of [await world.member(), await world.viewer(), await world.embedded()])
      expect(await seenBy(by)).toBeNull()
    expect(await seenBy(await world.otherOrg())).toBeUndefined()
    await admin.mutate('memberRevoke', { userId: person.id })
    expect(await seenBy(admin)).toBeNull()
  })
})
