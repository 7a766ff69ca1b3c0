import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { sql } from '../../src/db/sql.ts'
import { blockersOf, deleteUser } from '../../src/identity/user/delete-user.ts'
import { setUserDisabled } from '../../src/identity/user/disable-user.ts'
import { eraseUser, finishErasures } from '../../src/identity/user/erase-user.ts'
import type { Actor } from '../support/actor.ts'
import { type App, startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let app: App
let world: World
beforeAll(async () => {
  app = await startApp()
  world = await createWorld(app)
})
afterAll(() => app.close())

const rowOf = async ({ userId }: Pick<Actor, 'userId'>) =>
  (
    await world.sql(
      `SELECT display_name, email, issuer, subject, password_hash, avatar_icon, status FROM identity.users WHERE id = $1`,
      [userId],
    )
  )[0]

let people = 0
/** A member with everything that says who somebody is. */
async function known(role: 'member' | 'owner' = 'member'): Promise<Actor> {
  const person = await world.member({ role })
  const name = `known-${++people}`
  await world.sql(
    `UPDATE identity.users SET display_name = 'Known Person', email = $2, email_verified_at = now(), issuer = 'https://id',
       subject = $3, password_hash = 'hash', avatar_icon = 'cat', notification_sounds = true WHERE id = $1`,
    [person.userId, `${name}@example.org`, name],
  )
  await world.sql('INSERT INTO identity.waitlist (email) VALUES ($1)', [`${name}@example.org`])
  await world.sql(`UPDATE identity.memberships SET username = $2 WHERE user_id = $1`, [person.userId, name])
  return person
}

async function joinOrg(person: Actor, other: World, role = 'member'): Promise<void> {
  await world.sql(
    `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, $3, 'elsewhere', now())`,
    [other.org.id, person.userId, role],
  )
}

const factsOf = async ({ userId }: Pick<Actor, 'userId'>, type: string) =>
  world.sql<{ org_id: string; durable: boolean }>(
    'SELECT org_id, durable FROM platform.audit_events WHERE target_id = $1 AND event_type = $2',
    [userId, type],
  )

const ERASED = {
  display_name: 'Deleted user',
  email: null,
  issuer: '',
  subject: '',
  password_hash: null,
  avatar_icon: '',
  status: 'erased',
}

describe('viewerErase', () => {
  it('ID-65 takes away everything that says who it was, in every org, and keeps what they wrote', async () => {
    const person = await known()
    const other = await createWorld(app)
    await joinOrg(person, other)
    const { room } = await world.pokerRoom({ host: person })
    await person.vote(room, '5')

    const outcome = await person.mutate('viewerErase', { confirm: 'Known Person' }, 'erased')

    expect(outcome).toEqual({ __typename: 'ViewerErasePayload', erased: true })
    expect(await rowOf(person)).toEqual(ERASED)
    const memberships = await world.sql<{ username: string; revoked: boolean }>(
      'SELECT username, revoked_at IS NOT NULL AS revoked FROM identity.memberships WHERE user_id = $1',
      [person.userId],
    )
    expect(memberships).toHaveLength(2)
    for (const { username, revoked } of memberships) {
      expect(username).toMatch(/^deleted-[0-9a-f]{8}$/)
      expect(revoked).toBe(true)
    }
    expect(await world.sql('SELECT FROM identity.sessions WHERE user_id = $1', [person.userId])).toEqual([])
    expect(await world.sql(`SELECT FROM identity.waitlist WHERE email LIKE $1`, [`known-${people}@%`])).toEqual([])
    expect(await world.sql('SELECT FROM rooms.space_members WHERE user_id = $1', [person.userId])).toEqual([])
    expect(await world.sql('SELECT card FROM rooms.votes WHERE user_id = $1', [person.userId])).toEqual([{ card: '5' }])
    const erased = await factsOf(person, 'user.erased')
    expect(erased.map(({ org_id }) => org_id).sort()).toEqual([world.org.id, other.org.id].sort())
    expect(erased.every(({ durable }) => durable)).toBe(true)
    const { errors } = await person.client.send('{ viewer { standing } }')
    expect(errors?.[0]?.extensions?.['code']).toBe('UNAUTHENTICATED')
  })

  it('ID-65 asks for the display name, and changes nothing without it', async () => {
    const person = await known()
    const before = await rowOf(person)
    expect(await person.mutate('viewerErase', { confirm: 'Somebody Else' })).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await rowOf(person)).toEqual(before)
  })

  it('ID-65 refuses the last active owner and names the orgs', async () => {
    const other = await createWorld(app)
    const person = await known()
    await joinOrg(person, other, 'owner')
    await world.sql(`UPDATE identity.memberships SET role = 'member' WHERE org_id = $1 AND user_id = $2`, [
      other.org.id,
      other.owner.userId,
    ])
    expect(await person.mutate('viewerErase', { confirm: 'Known Person' })).toMatchObject({
      __typename: 'LastOwnerError',
      message: expect.stringContaining(other.org.slug),
    })
    expect(await rowOf(person)).toMatchObject({ status: 'active' })
  })

  it('ID-39, 65 leaves an owner when two erase themselves at once', async () => {
    for (let round = 0; round < 10; round++) {
      const shared = await createWorld(app)
      const second = await shared.member({ role: 'owner' })
      const names = await world.sql<{ display_name: string }>(
        'SELECT display_name FROM identity.users WHERE id = ANY ($1) ORDER BY array_position($1, id::uuid)',
        [[shared.owner.userId, second.userId]],
      )
      await Promise.all(
        [shared.owner, second].map((owner, at) => owner.attempt('viewerErase', { confirm: names[at]!.display_name })),
      )
      const left = await world.sql(
        `SELECT FROM identity.memberships AS m JOIN identity.users AS u ON u.id = m.user_id
         WHERE m.org_id = $1 AND m.role = 'owner' AND m.revoked_at IS NULL AND u.status = 'active'`,
        [shared.org.id],
      )
      expect(left).toHaveLength(1)
    }
  })

  it('ID-65 erases guests and anonymous people too, and refuses embedded sessions what is the person’s', async () => {
    const { room } = await world.pokerRoom()
    const guest = await world.guest(room)
    const anonymous = await world.anonymous()
    for (const somebody of [guest, anonymous]) {
      const { display_name: confirm } = (await rowOf(somebody)) as { display_name: string }
      expect(await somebody.mutate('viewerErase', { confirm })).toMatchObject({ __typename: 'ViewerErasePayload' })
      expect(await rowOf(somebody)).toMatchObject({ status: 'erased', display_name: 'Deleted user' })
      expect(await factsOf(somebody, 'user.erased')).toHaveLength(1)
    }
    const person = await known()
    const embedded = await world.embedded(person)
    expect(await embedded.mutate('viewerErase', { confirm: 'Known Person' })).toMatchObject({ code: 'FORBIDDEN' })
    expect(await rowOf(person)).toMatchObject({ status: 'active' })
  })

  it('ID-65 finishes what a killed process left', async () => {
    const person = await known()
    const other = await createWorld(app)
    await joinOrg(person, other)
    await operation('sweep', {}, () => sql`SELECT identity.maint_user_erase(${person.userId})`)

    await finishErasures((work) => work())

    expect(
      await world.sql('SELECT FROM identity.memberships WHERE user_id = $1 AND revoked_at IS NULL', [person.userId]),
    ).toEqual([])
    expect(await factsOf(person, 'user.erased')).toHaveLength(2)
    expect(await factsOf(person, 'member.left')).toHaveLength(2)
  })
})

describe('the operator', () => {
  it('ID-65 erases once; a second time there is nobody', async () => {
    const person = await known()
    expect(await eraseUser(person.userId)).toBe(true)
    expect(await eraseUser(person.userId)).toBe(false)
    expect(await factsOf(person, 'user.erased')).toHaveLength(1)
  })

  it('ID-3, PLAT-12 disables and enables, recorded in each org, and the next request knows', async () => {
    const person = await known()
    const other = await createWorld(app)
    await joinOrg(person, other)

    expect(await setUserDisabled(person.userId, true)).toBe(true)
    expect(await setUserDisabled(person.userId, true)).toBe(false)
    const { errors } = await person.client.send('{ viewer { standing } }')
    expect(errors?.[0]?.extensions?.['code']).toBe('UNAUTHENTICATED')
    expect(await factsOf(person, 'user.disabled')).toHaveLength(2)

    expect(await setUserDisabled(person.userId, false)).toBe(true)
    // What was open when they were shut out stays shut; they sign in again.
    expect((await person.client.send('{ viewer { standing } }')).errors).toHaveLength(1)
    const again = await world.signIn(person)
    expect(await again.run('{ viewer { standing } }')).toEqual({ viewer: { standing: 'MEMBER' } })
    expect(await factsOf(person, 'user.enabled')).toHaveLength(2)
  })

  it('ID-39 does not disable the last active owner', async () => {
    const alone = await createWorld(app)
    await expect(setUserDisabled(alone.owner.userId, true)).rejects.toMatchObject({ code: 'LAST_OWNER' })
    expect(await rowOf(alone.owner)).toMatchObject({ status: 'active' })
  })

  it('ID-67 deletes nobody who facilitates, owns alone, or is an agent, and says why', async () => {
    const host = await known()
    await world.pokerRoom({ host })
    const agent = await world.agent()

    expect(await deleteUser(host.userId)).toBe(false)
    expect(await blockersOf(host.userId)).toEqual([
      { reason: 'facilitator', table: 'rooms.rooms', column: 'facilitator_id', rows: '1' },
    ])
    expect(await deleteUser(agent.userId)).toBe(false)
    expect(await blockersOf(agent.userId)).toMatchObject([{ reason: 'agent' }])
    const alone = await createWorld(app)
    expect((await blockersOf(alone.owner.userId)).map(({ reason }) => reason)).toEqual([
      'last owner of an org',
      'last owner of a space',
    ])
    expect(await deleteUser(alone.owner.userId)).toBe(false)
  })

  it('ID-68 takes along what is the person’s alone and keeps what others need', async () => {
    const person = await known()
    const { room } = await world.pokerRoom({ voters: 1 })
    await world.join(person, {}).catch(() => {})
    await world.attend(room, person)
    await person.vote(room, '8')
    const events = await world.sql('SELECT id FROM platform.audit_events WHERE actor_user_id = $1', [person.userId])
    await world.sql('UPDATE rooms.rooms SET created_by = $2 WHERE id = $1', [room.uuid, person.userId])

    expect(await deleteUser(person.userId)).toBe(true)

    expect(await rowOf(person)).toBeUndefined()
    for (const table of ['rooms.votes', 'rooms.room_participants', 'rooms.space_members', 'identity.memberships'])
      expect(await world.sql(`SELECT FROM ${table} WHERE user_id = $1`, [person.userId])).toEqual([])
    expect(await world.sql('SELECT created_by FROM rooms.rooms WHERE id = $1', [room.uuid])).toEqual([
      { created_by: null },
    ])
    expect(events.length).toBeGreaterThan(0)
    expect(await world.sql('SELECT id FROM platform.audit_events WHERE actor_user_id = $1', [person.userId])).toEqual(
      events,
    )
  })

  it('ID-66 gives the app no way around: no DELETE, no erasing or disabling of others', async () => {
    const [person, other] = [await known(), await known()]
    const as = (userId: string, body: () => Promise<unknown>) =>
      operation('write', { orgId: world.org.id, userId }, body)
    await expect(
      as(person.userId, () => sql`DELETE FROM identity.users WHERE id = ${person.userId}`),
    ).rejects.toMatchObject({
      code: '42501',
    })
    for (const call of ['maint_user_erase', 'maint_user_delete', 'maint_user_blockers'] as const) {
      const statement = {
        maint_user_erase: () => sql`SELECT identity.maint_user_erase(${other.userId})`,
        maint_user_delete: () => sql`SELECT identity.maint_user_delete(${other.userId})`,
        maint_user_blockers: () => sql`SELECT * FROM identity.maint_user_blockers(${other.userId})`,
      }[call]
      await expect(as(person.userId, statement)).rejects.toMatchObject({ code: '42501' })
    }
    await expect(
      as(person.userId, () => sql`SELECT identity.maint_user_disable(${other.userId}, true)`),
    ).rejects.toMatchObject({ code: '42501' })
    // An admin key's operation has an org and nobody in particular: people of other orgs are out of its reach.
    const elsewhere = await createWorld(app)
    await expect(
      operation('write', { orgId: elsewhere.org.id }, () => sql`SELECT identity.maint_user_erase(${other.userId})`),
    ).rejects.toMatchObject({ code: '42501' })
    expect(await rowOf(other)).toMatchObject({ status: 'active' })
  })
})
