import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import { createOrgAsOperator, createUser } from '../../src/identity/index.ts'
import type { Actor } from '../support/actor.ts'
import { uuidOf, type World } from '../support/world.ts'
import { useCheapPasswords, useRealPasswords } from './computations.ts'
import { asNobody, configure, factsAbout, PASSWORD, SIGN_IN, startIdentityApp } from './identity-app.ts'

let world: World

beforeAll(async () => {
  useCheapPasswords()
  world = await startIdentityApp()
})
beforeEach(() => configure({ MOOTHALL_ORG_CREATE: 'registered' }))
afterAll(async () => {
  useRealPasswords()
  await world?.close()
})

let slugs = 0
const newSlug = () => `made-${++slugs}`
const create = (actor: Actor, input: object) =>
  actor.mutate('orgCreate', input, 'org { id slug name standing archived }')
const signIn = async (email: string) =>
  (await asNobody(world, SIGN_IN, { input: { email, password: PASSWORD, delivery: 'BEARER' } })).data
    ?.sessionCreateWithPassword

describe('an org made by a person', () => {
  it('ID-57 is theirs, with an event that outlives it', async () => {
    const person = await world.member()
    await world.sql(`UPDATE identity.users SET email = 'ada.lovelace@example.org' WHERE id = $1`, [person.userId])
    const slug = newSlug()
    const { org } = await create(person, { slug, name: '  Analytical Engines ' })

    expect(org).toEqual({
      id: expect.any(String),
      slug,
      name: 'Analytical Engines',
      standing: 'OWNER',
      archived: false,
    })
    const id = uuidOf(org.id)
    expect(await person.run('{ viewer { orgs { slug standing } } }')).toEqual({
      viewer: { orgs: expect.arrayContaining([{ slug, standing: 'OWNER' }]) },
    })
    expect(
      await world.sql(
        'SELECT role, username, joined_at IS NOT NULL AS joined FROM identity.memberships WHERE org_id = $1',
        [id],
      ),
    ).toEqual([{ role: 'owner', username: 'ada.lovelace', joined: true }])
    expect(await world.sql('SELECT allow_anonymous, status FROM identity.orgs WHERE id = $1', [id])).toEqual([
      { allow_anonymous: false, status: 'active' },
    ])
    expect(
      await world.sql(
        `SELECT event_type, org_id, actor_user_id, durable, org_slug, payload FROM platform.audit_events WHERE target_id = $1`,
        [id],
      ),
    ).toEqual([
      {
        event_type: 'org.created',
        org_id: id,
        actor_user_id: person.userId,
        durable: true,
        org_slug: slug,
        payload: { ownerId: person.userId, allowAnonymous: false },
      },
    ])
  })

  it('ID-57 is refused where the operator makes them, and to all but registered people', async () => {
    const { room } = await world.pokerRoom()
    const others = [await world.anonymous(), await world.embedded(), await world.guest(room)]
    for (const actor of others) {
      expect(await create(actor, { slug: newSlug(), name: 'No' })).toMatchObject({ __typename: 'ForbiddenError' })
    }
    const nobody = await asNobody(
      world,
      `mutation { orgCreate(input: { slug: "nobodys", name: "No" }) { __typename } }`,
      {},
    )
    expect(nobody.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }])
    expect(await create(await world.viewer(), { slug: newSlug(), name: 'Yes' })).toMatchObject({
      org: { standing: 'OWNER' },
    })
    configure({ MOOTHALL_ORG_CREATE: 'operator' })
    expect(await create(world.owner, { slug: newSlug(), name: 'No' })).toMatchObject({ __typename: 'ForbiddenError' })
  })

  it('ID-57 has a slug of its own: of two at once one is made', async () => {
    expect(await create(world.owner, { slug: world.org.slug, name: 'Again' })).toMatchObject({
      __typename: 'ConflictError',
    })
    const slug = newSlug()
    const both = await Promise.all([
      create(world.owner, { slug, name: 'One' }),
      create(world.owner, { slug, name: 'Two' }),
    ])
    expect(both.map(({ __typename }) => __typename).sort()).toEqual(['ConflictError', 'OrgCreatePayload'])
    expect(await world.sql('SELECT count(*)::int AS orgs FROM identity.orgs WHERE slug = $1', [slug])).toEqual([
      { orgs: 1 },
    ])
  })

  it.each([
    ['two characters', { slug: 'ab' }, 'slug'],
    ['41 characters', { slug: 'a'.repeat(41) }, 'slug'],
    ['capitals', { slug: 'Main' }, 'slug'],
    ['an underscore', { slug: 'ma_in' }, 'slug'],
    ['a hyphen at its end', { slug: 'main-' }, 'slug'],
    ['a NUL', { slug: 'ma\u0000in' }, 'slug'],
    ['no name', { name: ' ' }, 'name'],
    ['a name of 65 characters', { name: 'x'.repeat(65) }, 'name'],
    ['a control character in the name', { name: 'Ma\u0001in' }, 'name'],
  ])('ID-57 is refused with %s', async (_, input, field) => {
    expect(await create(world.owner, { slug: newSlug(), name: 'Org', ...input })).toMatchObject({
      __typename: 'InvalidInputError',
      issues: [{ path: ['input', field] }],
    })
  })
})

describe('what the operator makes', () => {
  it('ID-57 makes an org with an owner who is new and signs in', async () => {
    const [slug, email] = [newSlug(), 'Owner@New.example']
    const owner = { email, displayName: 'Olga', password: PASSWORD }
    const { orgId, ownerId, isNew } = await createOrgAsOperator({ slug, name: 'New', allowAnonymous: true, owner })

    expect(isNew).toBe(true)
    expect(await signIn('owner@new.example')).toMatchObject({ session: { user: { id: encodeId('User', ownerId) } } })
    expect(await factsAbout(world, orgId)).toMatchObject([
      { type: 'org.created', actorKind: 'system', payload: { ownerId, allowAnonymous: true } },
    ])
    expect(await factsAbout(world, ownerId)).toEqual([])
  })

  it('ID-57 makes an org for somebody who is there already, who keeps name and password', async () => {
    const email = 'known@example.org'
    const first = await createOrgAsOperator({ slug: newSlug(), name: 'One', owner: { email, password: PASSWORD } })
    const second = await createOrgAsOperator({ slug: newSlug(), name: 'Two', owner: { email, displayName: 'Other' } })

    expect(second).toMatchObject({ ownerId: first.ownerId, isNew: false })
    expect(await world.sql('SELECT display_name FROM identity.users WHERE id = $1', [first.ownerId])).toEqual([
      { display_name: 'known' },
    ])
    expect(await signIn(email)).toMatchObject({ session: { user: { id: encodeId('User', first.ownerId) } } })
    const third = createOrgAsOperator({ slug: newSlug(), name: 'Three', owner: { email, password: PASSWORD } })
    await expect(third).rejects.toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['input', 'password'] }] })
  })

  it('PLAT-80 makes a member at once, with the event of joining', async () => {
    const input = { orgSlug: world.org.slug, email: 'mia@example.org', displayName: 'Mia', password: PASSWORD }
    const { userId, isNew } = await createUser({ ...input, role: 'admin' })

    expect(isNew).toBe(true)
    const { token } = await signIn('mia@example.org')
    expect(await world.app.client(token).run('{ viewer { standing user { displayName status } } }')).toEqual({
      viewer: { standing: 'ADMIN', user: { displayName: 'Mia', status: 'ACTIVE' } },
    })
    expect(await factsAbout(world, userId)).toMatchObject([
      { type: 'member.joined', actorKind: 'system', payload: { role: 'admin' } },
    ])
    const again = createUser({ orgSlug: world.org.slug, email: 'mia@example.org', role: 'viewer' })
    await expect(again).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('ID-35 opens a revoked membership again under its own username', async () => {
    const input = { orgSlug: world.org.slug, email: 'back@example.org' }
    const { userId } = await createUser({ ...input, role: 'member' })
    await world.sql('UPDATE identity.memberships SET revoked_at = now(), username = $2 WHERE user_id = $1', [
      userId,
      'old.name',
    ])
    expect(await createUser({ ...input, role: 'viewer' })).toMatchObject({ userId, isNew: false })
    expect(
      await world.sql(
        'SELECT role, username, revoked_at, joined_at IS NOT NULL AS joined FROM identity.memberships WHERE user_id = $1',
        [userId],
      ),
    ).toEqual([{ role: 'viewer', username: 'old.name', revoked_at: null, joined: true }])
  })

  it('ID-40 gives each a username made of the email, legal, free and not reserved', async () => {
    const emails = [
      'admin@a.example',
      'admin@b.example',
      'Zoë+x@a.example',
      'zoe-x@b.example',
      '+@a.example',
      'plugin-x@a.example',
      `${'long'.repeat(16)}@a.example`,
    ]
    const names: unknown[] = []
    for (const email of emails) {
      const { userId } = await createUser({ orgSlug: world.org.slug, email, displayName: 'X', role: 'member' })
      const [row] = await world.sql('SELECT username FROM identity.memberships WHERE user_id = $1', [userId])
      names.push(row!['username'])
    }
    expect(names).toEqual([
      'admin-2',
      'admin-3',
      'zoe-x',
      'zoe-x-2',
      'member',
      'member-plugin-x',
      'long'.repeat(16).slice(0, 39),
    ])
  })

  it('ID-40 gives twenty people of one name different usernames at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        createUser({ orgSlug: world.org.slug, email: `sam@host-${at}.example`, role: 'member' }),
      ),
    )
    expect(made).toHaveLength(20)
    const names = await world.sql(`SELECT DISTINCT username FROM identity.memberships WHERE username LIKE 'sam%'`)
    expect(names).toHaveLength(20)
  })

  it.each([
    ['an org that is not there', { orgSlug: 'no-such-org' }, 'NOT_FOUND'],
    ['no email', { email: 'nobody' }, 'INVALID_INPUT'],
    ['an email with a space', { email: 'a b@example.org' }, 'INVALID_INPUT'],
    ['an email that is too long', { email: `${'x'.repeat(250)}@example.org` }, 'INVALID_INPUT'],
    ['a name with a control character', { displayName: 'A\u0002' }, 'INVALID_INPUT'],
    ['a short password', { password: 'short' }, 'INVALID_INPUT'],
    ['the email for a password', { password: 'valid-enough@example.org' }, 'INVALID_INPUT'],
  ])('ID-22, 57 refuses %s and makes nobody', async (_, input, code) => {
    const base = { orgSlug: world.org.slug, email: 'valid-enough@example.org', role: 'member' as const }
    const people = () => world.sql('SELECT count(*)::int AS people FROM identity.users')
    const before = await people()
    await expect(createUser({ ...base, ...input })).rejects.toMatchObject({ code })
    expect(await people()).toEqual(before)
  })
})
