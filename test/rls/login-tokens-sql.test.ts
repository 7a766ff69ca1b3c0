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

type Token = { id: string; hash: Buffer }

async function token(org: string, user: string, more: { code?: Buffer; expires?: string } = {}): Promise<Token> {
  const made = { id: v7(), hash: randomBytes(32) }
  await world.as({ org }, (query) =>
    query(
      `INSERT INTO identity.login_tokens (org_id, id, user_id, purpose, token_hash, code_hash, expires_at)
       VALUES ($1, $2, $3, 'sign_in', $4, $5, now() + $6::interval)`,
      [org, made.id, user, made.hash, more.code ?? randomBytes(32), more.expires ?? '15 minutes'],
    ),
  )
  return made
}

describe('mailed tokens', () => {
  it('ID-24 are of a membership of their own org, and of no other org’s', async () => {
    const [org, other] = [await world.org(), await world.org()]
    const user = await world.member(org)
    const insert = (orgId: string) =>
      run(
        { org },
        `INSERT INTO identity.login_tokens (org_id, user_id, purpose, token_hash, expires_at)
         VALUES ($1, $2, 'invite', $3, now())`,
        [orgId, user, randomBytes(32)],
      )
    expect(await insert(org)).toBe('done')
    expect(await insert(other)).toBe('42501')
    expect(await outcome(token(other, user))).toBe('23503')
  })

  it('PLAT-3 are seen and spent by their own org alone, and by no guest', async () => {
    const [org, other] = [await world.org(), await world.org()]
    const user = await world.member(org)
    const { id } = await token(org, user)
    const seen = (settings: Settings) => rows(settings, 'SELECT id FROM identity.login_tokens WHERE id = $1', [id])
    const spend = 'UPDATE identity.login_tokens SET used_at = now() WHERE id = $1 RETURNING id'
    expect(await seen({ org })).toHaveLength(1)
    for (const settings of [{ org: other, user }, { org, room: v7() }, {}]) {
      expect(await seen(settings)).toEqual([])
      expect(await rows(settings, spend, [id])).toEqual([])
    }
    expect(await rows({ org }, spend, [id])).toHaveLength(1)
  })

  it('ID-25, 26 end once: what is spent or voided stays so, and a fifth miss voids', async () => {
    const org = await world.org()
    const user = await world.member(org)
    const set = (id: string, columns: string) =>
      run({ org }, `UPDATE identity.login_tokens SET ${columns} WHERE id = $1`, [id])

    const spent = await token(org, user)
    expect(await set(spent.id, 'used_at = now()')).toBe('done')
    expect(await set(spent.id, 'used_at = NULL')).toBe('MH008')
    expect(await set(spent.id, `used_at = now() + interval '1 s'`)).toBe('MH008')
    expect(await set(spent.id, 'voided_at = now()')).toBe('23514')

    const missed = await token(org, user)
    expect(await set(missed.id, 'code_attempts = 5')).toBe('23514')
    expect(await set(missed.id, 'code_attempts = 5, voided_at = now()')).toBe('done')
    expect(await set(missed.id, 'voided_at = NULL')).toBe('MH008')
  })

  it('ID-24 their hashes are read by nobody, and nothing else of them changes', async () => {
    const org = await world.org()
    const { id } = await token(org, await world.member(org))
    for (const column of ['token_hash', 'code_hash']) {
      expect(await run({ org }, `SELECT ${column} FROM identity.login_tokens`)).toBe('42501')
    }
    for (const column of ['token_hash', 'code_hash', 'expires_at', 'user_id', 'purpose', 'created_at']) {
      expect(await run({ org }, `UPDATE identity.login_tokens SET ${column} = ${column} WHERE id = $1`, [id])).toBe(
        '42501',
      )
    }
    expect(await run({ org }, 'DELETE FROM identity.login_tokens WHERE id = $1', [id])).toBe('42501')
  })

  it('ID-26 the newest that holds is the one whose code counts', async () => {
    const org = await world.org()
    const user = await world.member(org)
    const newest = async () =>
      (await rows({}, 'SELECT token_id FROM identity.preauth_code_token($1)', [user])).map(({ token_id: id }) => id)
    expect(await newest()).toEqual([])
    const first = await token(org, user)
    const second = await token(org, user)
    await token(org, user, { expires: '-1 second' })
    expect(await newest()).toEqual([second.id])
    await run({ org }, 'UPDATE identity.login_tokens SET voided_at = now() WHERE id = $1', [second.id])
    expect(await newest()).toEqual([first.id])
    await run({ org }, 'UPDATE identity.login_tokens SET used_at = now() WHERE id = $1', [first.id])
    expect(await newest()).toEqual([])
  })

  it('ID-20, PLAT-82 are swept seven days after they expire, and not before', async () => {
    const org = await world.org()
    const user = await world.member(org)
    const kept = await token(org, user, { expires: '-6 days -23 hours' })
    const spent = await token(org, user)
    await run({ org }, 'UPDATE identity.login_tokens SET used_at = now() WHERE id = $1', [spent.id])
    for (let at = 0; at < 3; at++) await token(org, user, { expires: '-7 days -1 hour' })

    const sweep = async () => (await rows({}, 'SELECT identity.maint_prune_identity(2) AS gone'))[0]?.['gone']
    expect([await sweep(), await sweep(), await sweep()]).toEqual([2, 1, 0])
    const left = await rows({ org }, 'SELECT id FROM identity.login_tokens WHERE user_id = $1', [user])
    expect(left.map(({ id }) => id).sort()).toEqual([kept.id, spent.id].sort())
  })
})

it('ID-27 the password of the operation’s own person is compared, and of nobody else', async () => {
  const org = await world.org()
  const [user, other] = [await world.member(org), await world.member(org)]
  await world.asOwner((query) =>
    query(`UPDATE identity.users SET password_hash = 'hash of ' || id WHERE id = $1`, [user]),
  )
  const own = async (settings: Settings) => (await rows(settings, 'SELECT identity.preauth_own_password() AS hash'))[0]
  expect(await own({ org, user })).toEqual({ hash: `hash of ${user}` })
  expect(await own({ org, user: other })).toEqual({ hash: null })
  expect(await own({ org })).toEqual({ hash: null })
})
