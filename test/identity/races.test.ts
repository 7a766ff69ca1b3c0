import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SessionCaller } from '../../src/graphql/caller.ts'
import { linkIdentity } from '../../src/identity/oidc/link-identity.ts'
import { signInSettled } from '../../src/identity/sign-in/settings.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import type { World } from '../support/world.ts'
import { useCheapPasswords, useRealPasswords } from './computations.ts'
import {
  asNobody,
  CREATE_ANONYMOUS,
  callerFor,
  configure,
  givePassword,
  PASSWORD,
  SIGN_IN,
  startIdentityApp,
} from './identity-app.ts'
import { catchMail, giveEmail, mails } from './mailed.ts'

let world: World
beforeAll(async () => {
  useCheapPasswords()
  world = await startIdentityApp()
})
beforeEach(() => {
  configure({ MOOTHALL_ORG_CREATE: 'registered' })
  catchMail()
})
afterAll(async () => {
  useRealPasswords()
  await world?.close()
})

/** Runs `change` in the middle of `attempt`: what it holds is let go once the attempt waits for it, or is over. */
async function during<T>(change: [text: string, values?: unknown[]], attempt: () => Promise<T>): Promise<T> {
  const held = await world.hold(...change)
  const attempted = attempt()
  await Promise.race([attempted.catch(() => {}), world.untilBlocked()]).finally(() => held.release())
  return attempted
}

const erase = ({ userId }: Actor): [string, unknown[]] => ['SELECT identity.maint_user_erase($1)', [userId]]
const rowOf = async ({ userId }: Actor) =>
  (
    await world.sql(
      'SELECT display_name, email, issuer, subject, avatar_icon, status FROM identity.users WHERE id = $1',
      [userId],
    )
  )[0]
const membershipsOf = ({ userId }: Actor) =>
  world.sql<{ username: string; org_id: string }>(
    'SELECT username, org_id FROM identity.memberships WHERE user_id = $1 AND revoked_at IS NULL',
    [userId],
  )
const orgOf = async ({ orgId }: Actor) =>
  (await world.sql('SELECT slug, name, status, stopped_at FROM identity.orgs WHERE id = $1', [orgId]))[0]
const ERASED = { display_name: 'Deleted user', email: null, issuer: '', subject: '', avatar_icon: '', status: 'erased' }

describe('whoever is erased meanwhile', () => {
  it('ID-34, 65 is invited nowhere any more: the email is somebody new’s', async () => {
    const [person, inviter] = [await world.member(), await world.otherOrg()]
    const email = await giveEmail(world, person)
    const invited = await during(erase(person), () => inviter.mutate('memberInvite', { email, role: 'MEMBER' }))

    expect(invited).toEqual({ __typename: 'MemberInvitePayload' })
    expect((await membershipsOf(person)).filter(({ org_id: orgId }) => orgId === inviter.orgId)).toEqual([])
    const [made] = await world.sql<{ id: string; status: string }>(
      'SELECT id, status FROM identity.users WHERE email = $1',
      [email],
    )
    expect(made).toMatchObject({ status: 'invited' })
    expect(made!.id).not.toBe(person.userId)
    await signInSettled()
    expect(mails).toMatchObject([{ to: email }])
  })

  it('ID-11, 65 gives themself no name again', async () => {
    const person = await world.member()
    await during(erase(person), () =>
      person.attempt('viewerUpdate', { displayName: 'Ada Lovelace', avatarIcon: 'cat' }),
    )
    expect(await rowOf(person)).toEqual(ERASED)
  })

  it('ID-28, 65 links no identity, which stays free for who they become', async () => {
    const person = await world.member()
    const caller = (await callerFor(person)) as SessionCaller
    const linked = during(erase(person), () =>
      linkIdentity(caller, { issuer: 'https://id.example', subject: 'ada' }, newId()),
    )
    await expect(linked).rejects.toThrow()
    expect(await rowOf(person)).toEqual(ERASED)
  })

  it('ID-39, 65 becomes owner of no org', async () => {
    const person = await world.member()
    const { data } = await during(erase(person), () => person.attempt('orgCreate', { slug: 'of-nobody', name: 'Org' }))
    expect(data?.orgCreate?.__typename).not.toBe('OrgCreatePayload')
    expect(await world.sql(`SELECT FROM identity.orgs WHERE slug = 'of-nobody'`)).toEqual([])
  })
})

describe('signing in', () => {
  it('ID-17, 38 by password leaves no session to whoever is revoked meanwhile', async () => {
    const person = await world.member()
    const email = await givePassword(world, person)
    await world.sql('UPDATE identity.memberships SET last_used_at = now() WHERE user_id = $1', [person.userId])
    const answer = await during(
      ['UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [person.userId]],
      () => asNobody(world, SIGN_IN, { input: { email, password: PASSWORD, delivery: 'BEARER' } }),
    )
    expect(answer.data?.sessionCreateWithPassword?.token).toBeUndefined()
    const sessions = await world.sql('SELECT id FROM identity.sessions WHERE user_id = $1 AND id <> $2', [
      person.userId,
      person.sessionId,
    ])
    expect(sessions).toEqual([])
  })

  it('ID-21, 59 makes nobody anonymous in an org that is archived meanwhile', async () => {
    const { orgId } = await world.otherOrg()
    const [{ slug }] = (await world.sql<{ slug: string }>('SELECT slug FROM identity.orgs WHERE id = $1', [orgId])) as [
      { slug: string },
    ]
    const held = await world.hold('LOCK TABLE identity.users IN SHARE ROW EXCLUSIVE MODE')
    const input = { orgSlug: slug, displayName: 'Ada', delivery: 'BEARER' }
    const created = asNobody(world, CREATE_ANONYMOUS, { input })
    await world.untilBlocked()
    const archived = world.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [
      orgId,
    ])
    const archivedFirst = await Promise.race([archived.then(() => true), world.untilBlocked(2).then(() => false)])
    await held.release()
    await archived
    const outcome = (await created).data?.sessionCreateAnonymous.__typename
    expect(outcome).toBe(archivedFirst ? 'NotFoundError' : 'SessionCreateAnonymousPayload')
  })
})

describe('an org', () => {
  it.each([
    ['orgUpdate', { slug: 'a-later-slug', name: 'Later' }],
    ['orgStop', {}],
  ])('ID-63 that is being purged is changed by no %s that waited meanwhile', async (name, input) => {
    const owner = await world.otherOrg()
    await world.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [owner.orgId])
    const before = await orgOf(owner)
    const { data } = await during(
      ['SELECT identity.maint_org_purge_begin(id, slug) FROM identity.orgs WHERE id = $1', [owner.orgId]],
      () => owner.attempt(name, input),
    )
    expect(data?.[name]).toMatchObject({ code: 'CONFLICT' })
    expect(await orgOf(owner)).toEqual({ ...before, status: 'purging' })
  })
})

describe('erasure', () => {
  it('ID-40, 65 is kept from nobody by a handle that an admin took before', async () => {
    const [person, admin] = [await world.member(), await world.member({ role: 'admin' })]
    const [row] = await world.sql<{ name: string }>(
      `SELECT 'deleted-' || left(md5($1::uuid::text || $2::uuid), 8) AS name`,
      [person.orgId, person.userId],
    )
    await admin.mutate('agentCreate', { name: row!.name })
    await admin.mutate('memberUpdate', { userId: admin.id, username: row!.name })
    const [{ display_name: name }] = (await world.sql('SELECT display_name FROM identity.users WHERE id = $1', [
      person.userId,
    ])) as [{ display_name: string }]
    expect(await person.mutate('viewerErase', { confirm: name })).toEqual({ __typename: 'ViewerErasePayload' })
    expect(await rowOf(person)).toEqual(ERASED)
  })
})
