import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { createInviteToken, invitesOfLastHour, sendInviteMail, voidInvites } from '../../src/identity/sign-in/invite.ts'
import { newId } from '../../src/lib/type-id.ts'
import { uuidOf, type World } from '../support/world.ts'
import { asNobody, configure, factsAbout, startIdentityApp } from './identity-app.ts'
import { catchMail, mails, PREVIEW, requestMail, tokenOf, withCode, withToken } from './mailed.ts'

let world: World
let names = 0

beforeAll(async () => {
  world = await startIdentityApp()
})
beforeEach(() => {
  configure()
  catchMail()
})
afterAll(() => world?.close())

const FAILED = { __typename: 'SignInFailedError', code: 'SIGN_IN_FAILED' }
const preview = async (token: string) => (await asNobody(world, PREVIEW, { token })).data?.loginTokenPreview
const invite = (userId: string) =>
  operation('write', { orgId: world.org.id, userId: world.owner.userId }, () =>
    createInviteToken({ orgId: world.org.id, userId, createdBy: world.owner.userId }),
  )

/** Somebody whom nobody knew, and their invitation to the world's org. */
async function invited(status = 'invited'): Promise<{ userId: string; email: string; token: string }> {
  const userId = newId()
  const email = `invited-${++names}@example.org`
  await world.sql(
    `INSERT INTO identity.users (id, type, account, display_name, email, status)
     VALUES ($1, 'human', 'registered', 'Invited', $2, $3)`,
    [userId, email, status],
  )
  await world.sql(
    `INSERT INTO identity.memberships (org_id, user_id, role, username, invited_by) VALUES ($1, $2, 'viewer', $3, $4)`,
    [world.org.id, userId, `invited-${names}`, world.owner.userId],
  )
  const { token } = await invite(userId)
  return { userId, email, token }
}

const personOf = async (userId: string) =>
  (
    await world.sql(
      `SELECT u.status, u.email_verified_at IS NOT NULL AS verified, m.joined_at IS NOT NULL AS joined
       FROM identity.users AS u JOIN identity.memberships AS m ON m.user_id = u.id
       WHERE u.id = $1 AND m.org_id = $2`,
      [userId, world.org.id],
    )
  )[0]

describe('accepting an invitation', () => {
  it('ID-36 makes the person active, their email verified and them a member, in that org', async () => {
    const { userId, token } = await invited()
    expect(await preview(token)).toMatchObject({ orgName: 'Org', purpose: 'INVITE' })
    expect(await personOf(userId)).toEqual({ status: 'invited', verified: false, joined: false })

    const { token: bearer, session } = await withToken(world, token)
    expect(session).toMatchObject({ method: 'INVITE' })
    expect(await personOf(userId)).toEqual({ status: 'active', verified: true, joined: true })
    expect(await world.app.client(bearer).run('{ viewer { standing org { slug } } }')).toEqual({
      viewer: { standing: 'VIEWER', org: { slug: world.org.slug } },
    })
    expect(await factsAbout(world, userId)).toMatchObject([
      { type: 'member.joined', actorKind: 'human', actorUserId: userId, payload: { role: 'viewer' } },
    ])
    expect(await factsAbout(world, uuidOf(session.id))).toMatchObject([
      { type: 'session.created', payload: { method: 'invite' } },
    ])
    const [event] = await world.sql(
      `SELECT category, durable, deliverable FROM platform.audit_events WHERE event_type = 'member.joined' AND target_id = $1`,
      [userId],
    )
    expect(event).toEqual({ category: 'activity', durable: true, deliverable: true })
  })

  it('ID-36 brings somebody in who is active elsewhere, and keeps when their email was verified', async () => {
    const { userId, token } = await invited('active')
    await world.sql(`UPDATE identity.users SET email_verified_at = '2020-01-01' WHERE id = $1`, [userId])
    expect(await withToken(world, token)).toHaveProperty('session')
    const rows = await world.sql(
      `SELECT extract(year FROM email_verified_at)::int AS year FROM identity.users WHERE id = $1`,
      [userId],
    )
    expect(rows).toEqual([{ year: 2020 }])
  })

  it('ID-25, 36 happens once when 20 accept at once', async () => {
    const { userId, token } = await invited()
    const answers = await Promise.all(Array.from({ length: 20 }, () => withToken(world, token)))
    expect(answers.filter(({ session }) => session)).toHaveLength(1)
    expect(await world.sql('SELECT id FROM identity.sessions WHERE user_id = $1', [userId])).toHaveLength(1)
    expect((await factsAbout(world, userId)).filter(({ type }) => type === 'member.joined')).toHaveLength(1)
  })

  it('ID-36 is refused once the invitation is voided or the membership revoked, and changes nothing', async () => {
    const [voided, revoked, disabled] = [await invited(), await invited(), await invited()]
    await operation('write', { orgId: world.org.id }, () => voidInvites(world.org.id, voided.userId))
    await world.sql('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [revoked.userId])
    await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [disabled.userId])
    for (const { userId, token } of [voided, revoked, disabled]) {
      expect(await preview(token)).toBeNull()
      expect(await withToken(world, token)).toMatchObject(FAILED)
      expect(await personOf(userId)).toMatchObject({ verified: false, joined: false })
      expect((await factsAbout(world, userId)).map(({ type }) => type)).toEqual(['auth.sign_in_failed'])
    }
  })

  it('ID-36 is refused when the membership is revoked while it is being accepted', async () => {
    const { userId, token } = await invited()
    const held = await world.hold('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [userId])
    const accepting = withToken(world, token)
    await world.untilBlocked()
    await held.release()
    expect(await accepting).toMatchObject(FAILED)
    expect(await personOf(userId)).toMatchObject({ status: 'invited', joined: false })
  })

  it('ID-35 makes the newest invitation the one that counts', async () => {
    const { userId, token } = await invited()
    const { token: newer, expiresAt } = await invite(userId)
    expect((expiresAt.getTime() - Date.now()) / 86_400_000).toBeCloseTo(7, 1)
    expect(await operation('read', { orgId: world.org.id }, () => invitesOfLastHour(world.org.id, userId))).toBe(2)
    expect(await withToken(world, token)).toMatchObject(FAILED)
    expect(await withToken(world, newer)).toHaveProperty('session')
  })

  it('ID-36 is none for who is a member already', async () => {
    const { userId, token } = await invited('active')
    await world.sql('UPDATE identity.memberships SET joined_at = now() WHERE user_id = $1', [userId])
    expect(await preview(token)).toBeNull()
    expect(await withToken(world, token)).toMatchObject(FAILED)
  })

  it('ID-26, 36 has no code, and no sign-in mail reaches who has not accepted', async () => {
    const { userId, email } = await invited()
    expect(await withCode(world, email, '000000')).toMatchObject(FAILED)
    expect(await requestMail(world, email)).toBeUndefined()
    await expect(
      world.sql('UPDATE identity.login_tokens SET code_hash = token_hash WHERE user_id = $1', [userId]),
    ).rejects.toMatchObject({ constraint: 'login_tokens_code_check' })
  })

  it('PLAT-78 works where link sign-in is off', async () => {
    const { token } = await invited()
    catchMail({ MOOTHALL_LINK_SIGN_IN: 'false' })
    expect(await preview(token)).toMatchObject({ purpose: 'INVITE' })
    expect(await withToken(world, token)).toHaveProperty('session')
  })

  it('ID-59 waits while the org is archived, with the invitation unspent', async () => {
    const other = await world.otherOrg()
    const { userId } = await invited('active')
    await world.sql(
      `INSERT INTO identity.memberships (org_id, user_id, role, username) VALUES ($1, $2, 'member', 'invited')`,
      [other.orgId, userId],
    )
    const { token } = await operation('write', { orgId: other.orgId }, () =>
      createInviteToken({ orgId: other.orgId, userId, createdBy: null }),
    )
    await world.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [other.orgId])
    expect(await withToken(world, token)).toMatchObject({ code: 'ORG_ARCHIVED' })
    await world.sql(`UPDATE identity.orgs SET status = 'active', archived_at = NULL WHERE id = $1`, [other.orgId])
    expect(await withToken(world, token)).toHaveProperty('session')
  })
})

it('ID-34 the mail says who invites whom where, and carries the token in the fragment', () => {
  const invitation = { token: `mh_link_${'x'.repeat(43)}`, expiresAt: new Date() }
  sendInviteMail({ email: 'a@example.org', orgName: 'Acme <b>', inviterName: 'Ada', invite: invitation })
  sendInviteMail({ email: 'b@example.org', orgName: 'Acme', inviterName: null, invite: invitation })
  expect(mails[0]).toMatchObject({ to: 'a@example.org', subject: 'Join Acme <b>' })
  expect(mails[0]!.text).toContain('Ada invites you to join Acme <b> at localhost:4000')
  expect(tokenOf(mails[0]!)).toBe(invitation.token)
  expect(mails[1]!.text).toContain('You are invited to join Acme')
})
