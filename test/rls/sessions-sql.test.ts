import { createHash, randomBytes } from 'node:crypto'
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

describe('sessions', () => {
  it('ID-17 are of humans with standing in their org, and move only to where they have it', async () => {
    const [org, other] = [await world.org(), await world.org()]
    const user = await world.member(org)
    const session = await world.session(org, user)
    const move = () => run({ org, user }, 'UPDATE identity.sessions SET org_id = $2 WHERE id = $1', [session, other])

    expect(await outcome(world.session(other, user))).toBe('MH009')
    expect(await outcome(world.session(org, await world.resident(org, 'agent')))).toBe('MH009')
    expect(await outcome(world.session(org, await world.resident(org, 'anonymous')))).toBe('done')
    expect(await move()).toBe('MH009')
    await world.as({ org: other }, (query) => world.join(query, other, user))
    expect(await move()).toBe('done')
  })

  it('ID-38 of a revoked member can still be ended, once and for good', async () => {
    const org = await world.org()
    const user = await world.member(org)
    const session = await world.session(org, user)
    await world.as({ org }, (query) =>
      query('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [user]),
    )
    const set = (columns: string) => run({ org }, `UPDATE identity.sessions SET ${columns} WHERE id = $1`, [session])

    expect(await set(`revoked_at = now(), revoke_reason = 'role'`)).toBe('done')
    expect(await set('revoked_at = NULL, revoke_reason = NULL')).toBe('MH008')
    expect(await set(`revoke_reason = 'user'`)).toBe('MH008')
  })

  it('ID-18 are seen by their person everywhere and by the org they are in', async () => {
    const [org, other] = [await world.org(), await world.org()]
    const user = await world.member(org)
    await world.as({ org: other }, (query) => world.join(query, other, user))
    const [here, there] = [await world.session(org, user), await world.session(other, user)]
    const seen = async (settings: Settings) =>
      (await rows(settings, 'SELECT id FROM identity.sessions')).map(({ id }) => id).sort()

    expect(await seen({ org, user })).toEqual([here, there].sort())
    expect(await seen({ org })).toEqual([here])
    expect(await seen({ org: other, user: v7() })).toEqual([there])
  })

  it('ID-20 are swept thirty days after their end, and not before', async () => {
    const org = await world.org()
    const user = await world.member(org)
    const age = async (set: string) => {
      const id = await world.session(org, user)
      await world.asOwner((query) => query(`UPDATE identity.sessions SET ${set} WHERE id = $1`, [id]))
      return id
    }
    const revoked = (age: string) => `revoked_at = now() - interval '${age}', revoke_reason = 'user'`
    const dead = [
      await age(revoked('31 days')),
      await age(`last_seen_at = now() - interval '45 days'`),
      await age(`created_at = now() - interval '61 days'`),
    ]
    const kept = [
      await age(revoked('29 days')),
      await age(`last_seen_at = now() - interval '43 days'`),
      await age(`created_at = now() - interval '59 days'`),
      await age('last_seen_at = now()'),
    ]
    const sweep = () => rows({}, 'SELECT identity.maint_prune_identity(2) AS gone')

    expect([await sweep(), await sweep(), await sweep()].flat().map(({ gone }) => gone)).toEqual([2, 1, 0])
    const left = (await rows({ org, user }, 'SELECT id FROM identity.sessions')).map(({ id }) => id)
    expect(left.sort()).toEqual(kept.sort())
    expect(left).not.toContain(dead[0])
  })
})

describe('before the org is known', () => {
  it('ID-2 a token opens its session with the standing of this moment', async () => {
    const org = await world.org()
    const user = await world.member(org, 'admin')
    const token = randomBytes(32)
    const hash = createHash('sha256').update(token).digest()
    await world.as({ org, user }, (query) =>
      query(
        `INSERT INTO identity.sessions (org_id, user_id, token_hash, csrf_hash, method) VALUES ($1, $2, $3, $3, 'password')`,
        [org, user, hash],
      ),
    )
    const open = () => rows({}, 'SELECT * FROM identity.preauth_session($1)', [hash])

    expect(await open()).toMatchObject([
      { org_id: org, user_id: user, role: 'admin', org_status: 'active', csrf_hash: hash },
    ])
    await world.as({ org }, (query) =>
      query('UPDATE identity.memberships SET revoked_at = now() WHERE user_id = $1', [user]),
    )
    expect(await open()).toMatchObject([{ role: null }])
    expect(await rows({}, 'SELECT * FROM identity.preauth_session($1)', [token])).toEqual([])
  })

  it('ID-17 a password leads to the live memberships, the most recently used first', async () => {
    const [first, second, archived, invited] = [
      await world.org(),
      await world.org(),
      await world.org(),
      await world.org(),
    ]
    const user = await world.member(first)
    for (const org of [second, archived, invited]) await world.as({ org }, (query) => world.join(query, org, user))
    await world.as({ org: second }, (query) =>
      query('UPDATE identity.memberships SET last_used_at = now() WHERE user_id = $1', [user]),
    )
    await world.as({ org: invited }, (query) =>
      query('UPDATE identity.memberships SET joined_at = NULL WHERE user_id = $1', [user]),
    )
    await world.as({ org: archived }, (query) =>
      query(`UPDATE identity.orgs SET status = 'archived', archived_at = now()`),
    )
    const [person] = await rows({ org: first, user }, 'SELECT email FROM identity.users WHERE id = $1', [user])

    const found = await rows({}, 'SELECT * FROM identity.preauth_password($1)', [person?.email])
    const byEmail = await rows({}, 'SELECT * FROM identity.preauth_user_by_email($1)', [person?.email])
    const orgs = await rows({ user }, 'SELECT org_id FROM identity.preauth_user_orgs($1)', [user])

    expect(found).toMatchObject([{ user_id: user, status: 'active' }])
    expect(found[0]?.org_ids).toEqual([second, archived, first])
    expect(byEmail.map(({ org_id }) => org_id)).toEqual([second, archived, first, invited])
    expect(orgs.map(({ org_id }) => org_id)).toEqual([second, archived, first])
  })

  it('ID-8 nobody asks for the orgs of somebody else', async () => {
    const org = await world.org()
    const user = await world.member(org)
    expect(await run({ user: v7() }, 'SELECT * FROM identity.preauth_user_orgs($1)', [user])).toBe('42501')
    expect(await run({}, 'SELECT * FROM identity.preauth_user_orgs($1)', [user])).toBe('done')
  })
})
