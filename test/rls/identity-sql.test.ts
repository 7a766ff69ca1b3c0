import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IdentityWorld, outcome, type Settings } from './identity-world.ts'

let world: IdentityWorld

beforeAll(async () => {
  world = await IdentityWorld.open()
})

afterAll(() => world?.close())

const run = (settings: Settings, text: string, values: unknown[] = []) =>
  outcome(world.as(settings, (query) => query(text, values)))
const rows = async (settings: Settings, text: string, values: unknown[] = []) =>
  (await world.as(settings, (query) => query(text, values))).rows

describe('the last owner', () => {
  const demote = (org: string, user: string) =>
    run({ org }, `UPDATE identity.memberships SET role = 'member' WHERE user_id = $1`, [user])
  const owners = (org: string) =>
    rows({ org }, `SELECT user_id FROM identity.memberships WHERE role = 'owner' AND revoked_at IS NULL`)

  it('ID-39 leaves exactly one when two owners demote each other, 200 times', async () => {
    const org = await world.org()
    const [one, two] = [await world.member(org, 'owner'), await world.member(org, 'owner')]
    for (let round = 0; round < 200; round++) {
      const outcomes = await Promise.all([demote(org, one), demote(org, two)])
      expect(outcomes.sort()).toEqual(['MH005', 'done'])
      expect(await owners(org)).toHaveLength(1)
      await world.as({ org }, (query) => query(`UPDATE identity.memberships SET role = 'owner'`))
    }
  })

  it('ID-39 cannot be demoted, revoked, un-joined, disabled or deleted', async () => {
    const org = await world.org()
    const user = await world.member(org, 'owner')
    await world.member(org, 'admin')
    const change = (set: string) => run({ org }, `UPDATE identity.memberships SET ${set} WHERE user_id = $1`, [user])

    expect(await change(`role = 'admin'`)).toBe('MH005')
    expect(await change('revoked_at = now()')).toBe('MH005')
    expect(await change('joined_at = NULL')).toBe('MH005')
    const asOwner = (text: string) => outcome(world.asOwner((query) => query(text, [user])))
    expect(await asOwner(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`)).toBe('MH005')
    expect(await asOwner('DELETE FROM identity.users WHERE id = $1')).toBe('MH005')
  })

  it('ID-39 does not count an owner who is invited, revoked or disabled', async () => {
    const org = await world.org()
    const [user, disabled, revoked, invited] = await Promise.all([1, 2, 3, 4].map(() => world.member(org, 'owner')))
    await world.asOwner((query) => query(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [disabled]))
    await world.as({ org }, async (query) => {
      await query('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [revoked])
      await query('UPDATE identity.memberships SET joined_at = NULL WHERE user_id = $1', [invited])
    })
    expect(await demote(org, user!)).toBe('MH005')
  })

  it('ID-39 is looked for at the commit, so owners may change places', async () => {
    const org = await world.org()
    const [old, next] = [await world.member(org, 'owner'), await world.member(org)]
    await world.as({ org }, async (query) => {
      await query(`UPDATE identity.memberships SET role = 'member' WHERE user_id = $1`, [old])
      await query(`UPDATE identity.memberships SET role = 'owner' WHERE user_id = $1`, [next])
    })
    expect(await owners(org)).toEqual([{ user_id: next }])
  })

  it('ID-64 is no hindrance to a purge', async () => {
    const org = await world.org()
    await world.member(org, 'owner')
    await world.asOwner((query) =>
      query(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [org]),
    )
    await world.asOwner((query) => query(`UPDATE identity.orgs SET status = 'purging' WHERE id = $1`, [org]))
    const removal = world.asOwner((query) => query('DELETE FROM identity.memberships WHERE org_id = $1', [org]))
    expect(await outcome(removal)).toBe('done')
  })
})

describe('the status of an org', () => {
  const become = (settings: Settings, status: string, times: string) =>
    run(settings, `UPDATE identity.orgs SET status = $2, ${times} WHERE id = $1`, [settings.org, status])

  it('ID-59 goes to archived and back', async () => {
    const org = await world.org()
    expect(await become({ org }, 'archived', 'archived_at = now()')).toBe('done')
    expect(await become({ org }, 'active', 'archived_at = NULL')).toBe('done')
  })

  it('ID-63 goes to purging and purged for the owner alone, and never back', async () => {
    const org = await world.org()
    const asOwner = (status: string, set = '') =>
      outcome(
        world.asOwner((query) => query(`UPDATE identity.orgs SET status = $2${set} WHERE id = $1`, [org, status])),
      )

    expect(await asOwner('purging', ', archived_at = now()')).toBe('MH010')
    expect(await become({ org }, 'archived', 'archived_at = now()')).toBe('done')
    expect(await become({ org }, 'purging', 'archived_at = now()')).toBe('MH010')
    expect(await asOwner('purging')).toBe('done')
    expect(await become({ org }, 'archived', 'archived_at = now()')).toBe('MH010')
    expect(await asOwner('purged', `, purged_at = now(), name = '', slug = 'purged-' || id, settings = '{}'`)).toBe(
      'done',
    )
    expect(await asOwner('active', ', archived_at = NULL, purged_at = NULL')).toBe('MH010')
  })

  it('ID-57 begins as active and carries the time of each status', async () => {
    const org = v7()
    const born = run(
      { org },
      `INSERT INTO identity.orgs (id, slug, name, api_version, status, archived_at)
       VALUES ($1, 'born-archived', 'Org', '2026-11-30', 'archived', now())`,
      [org],
    )
    expect(await born).toBe('MH010')
    const living = await world.org()
    expect(await become({ org: living }, 'archived', 'archived_at = NULL')).toBe('23514')
  })
})

describe('what an account is', () => {
  it('ID-12 lets only registered people become members', async () => {
    const org = await world.org()
    for (const account of ['anonymous', 'guest', 'agent'] as const) {
      const user = await world.resident(org, account)
      expect(await outcome(world.as({ org }, (query) => world.join(query, org, user)))).toBe('MH009')
    }
  })

  it('ID-12 gives an anonymous person neither email nor password, and nobody another account', async () => {
    const org = await world.org()
    const user = await world.resident(org, 'anonymous')
    expect(await run({ org, user }, `UPDATE identity.users SET password_hash = 'x'`)).toBe('23514')
    expect(await run({ org, user }, `UPDATE identity.users SET issuer = 'i', subject = 's'`)).toBe('23514')
    expect(await run({ org, user }, `UPDATE identity.users SET email = 'a@example.com'`)).toBe('42501')
    expect(await run({ org, user }, `UPDATE identity.users SET account = 'registered'`)).toBe('42501')
    expect(await run({ org, user }, 'UPDATE identity.users SET home_org_id = NULL')).toBe('42501')
  })

  it('ID-34 makes a registered person as invited only, unseen until there is a membership', async () => {
    const org = await world.org()
    const put = (columns: string, values: string, returning = '') =>
      run(
        { org },
        `INSERT INTO identity.users (type, account, display_name, email, ${columns})
         VALUES ('human', 'registered', 'Ann', $1, ${values}) ${returning}`,
        [`${randomBytes(8).toString('hex')}@example.com`],
      )
    expect(await put('status', `'active'`)).toBe('42501')
    expect(await put('status, email_verified_at', `'invited', now()`)).toBe('42501')
    expect(await put('status, last_login_at', `'invited', now()`)).toBe('42501')
    expect(await put('status', `'invited'`, 'RETURNING id')).toBe('42501')
    expect(await put('status', `'invited'`)).toBe('done')
  })

  it('ID-8 makes nobody at home in another org', async () => {
    const [org, other] = [await world.org(), await world.org()]
    const put = run(
      { org },
      `INSERT INTO identity.users (type, account, home_org_id, display_name, status)
       VALUES ('human', 'anonymous', $1, 'Ann', 'active')`,
      [other],
    )
    expect(await put).toBe('42501')
  })

  it('ID-65 leaves disabling, enabling and erasing to the operator', async () => {
    const org = await world.org()
    const user = await world.member(org)
    const become = (status: string) =>
      run({ org, user }, 'UPDATE identity.users SET status = $2 WHERE id = $1', [user, status])
    expect(await become('disabled')).toBe('MH010')
    expect(await become('erased')).toBe('MH010')
    await world.asOwner((query) => query(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [user]))
    expect(await become('active')).toBe('MH010')
  })
})

describe('who sees and writes a person', () => {
  it('ID-10 a member sees the people of their org and no others', async () => {
    const [org, other] = [await world.org(), await world.org()]
    const [me, revoked, stranger] = [await world.member(org), await world.member(org), await world.member(other)]
    const anonymous = await world.resident(org, 'anonymous')
    await world.as({ org }, (query) =>
      query('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [revoked]),
    )
    const seen = (await rows({ org, user: me }, 'SELECT id FROM identity.users')).map(({ id }) => id)
    expect(seen.sort()).toEqual([me, revoked, anonymous].sort())
    expect(seen).not.toContain(stranger)
  })

  it('ID-11 a person writes their own row, and no other member', async () => {
    const org = await world.org()
    const [me, colleague] = [await world.member(org), await world.member(org)]
    const changed = await world.as({ org, user: me }, (query) =>
      query(`UPDATE identity.users SET display_name = 'Me' RETURNING id`),
    )
    expect(changed.rows).toEqual([{ id: me }])
    expect(
      await rows({ org, user: me }, 'SELECT display_name FROM identity.users WHERE id = $1', [colleague]),
    ).not.toEqual([{ display_name: 'Me' }])
  })

  it('ID-10 no hash is read, by whatever column list', async () => {
    const org = await world.org()
    const user = await world.member(org)
    for (const text of [
      'SELECT password_hash FROM identity.users',
      'SELECT * FROM identity.users',
      'SELECT users FROM identity.users',
      'SELECT token_hash FROM identity.sessions',
      'SELECT csrf_hash FROM identity.sessions',
      `UPDATE identity.users SET display_name = 'x' RETURNING password_hash`,
    ]) {
      expect(await run({ org, user }, text)).toBe('42501')
    }
  })

  it('ROOM-32 a guest sees themself, writes themself and learns nothing of the members', async () => {
    const org = await world.org()
    const guest = await world.resident(org, 'guest')
    await world.resident(org, 'anonymous')
    await world.member(org)
    const settings = { org, user: guest, room: v7() }
    expect(await rows(settings, 'SELECT id FROM identity.users')).toEqual([{ id: guest }])
    expect(await rows(settings, 'SELECT user_id FROM identity.memberships')).toEqual([])
    expect(await rows(settings, 'SELECT id FROM identity.orgs')).toEqual([{ id: org }])
    const changed = await world.as(settings, (query) =>
      query(`UPDATE identity.users SET display_name = 'Me' RETURNING id`),
    )
    expect(changed.rows).toEqual([{ id: guest }])
  })
})

describe('handles', () => {
  it('ID-40 are one namespace in an org, without the reserved names', async () => {
    const [org, other] = [await world.org(), await world.org()]
    const [ann, bob, eve] = [await world.member(org), await world.member(org), await world.member(other)]
    const name = (to: string, user: string, username: string) =>
      run({ org: to }, 'UPDATE identity.memberships SET username = $2 WHERE user_id = $1', [user, username])

    expect(await name(org, ann, 'ann')).toBe('done')
    expect(await name(org, bob, 'ann')).toBe('MH060')
    expect(await name(other, eve, 'ann')).toBe('done')
    expect(await name(org, ann, 'ann')).toBe('done')
    for (const reserved of ['org', 'system', 'console', 'admin', 'moothall', 'all', 'me', 'plugin-x']) {
      expect(await name(org, bob, reserved)).toBe('MH060')
    }
  })

  it('ID-40 go to one of two who ask at once', async () => {
    const org = await world.org()
    const people = await Promise.all(Array.from({ length: 6 }, () => world.member(org)))
    const ask = (user: string) =>
      run({ org }, `UPDATE identity.memberships SET username = 'wanted' WHERE user_id = $1`, [user])
    const outcomes = await Promise.all(people.map(ask))
    expect(outcomes.sort()).toEqual([...Array(5).fill('MH060'), 'done'])
  })
})
