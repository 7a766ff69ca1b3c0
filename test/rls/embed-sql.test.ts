import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { IdentityWorld, outcome, type Settings } from './identity-world.ts'

let world: IdentityWorld

beforeAll(async () => {
  world = await IdentityWorld.open()
})
afterAll(() => world?.close())

const newHash = () => createHash('sha256').update(randomBytes(32)).digest()
const run = (settings: Settings, text: string, values: unknown[]) =>
  outcome(world.as(settings, (query) => query(text, values)))
const rows = async (settings: Settings, text: string, values: unknown[]) =>
  (await world.as(settings, (query) => query(text, values))).rows

const START = 'SELECT outcome FROM identity.preauth_embed_start($1, $2, $3, $4)'
const BIND = 'SELECT identity.preauth_embed_bind($1, $2) AS outcome'
const REDEEM = 'SELECT outcome, user_id, org_id FROM identity.preauth_embed_redeem($1, $2)'

async function started(): Promise<Buffer> {
  const hash = newHash()
  expect(await rows({}, START, [hash, 'ABCDEF', 'meetings', randomBytes(8).toString('hex')])).toEqual([
    { outcome: 'started' },
  ])
  return hash
}

it('PLAT-1 a hand-off is reached through its three functions alone', async () => {
  const org = await world.org()
  for (const text of [
    'SELECT provider FROM identity.embed_handoffs',
    `INSERT INTO identity.embed_handoffs (challenge_hash, display_code, provider, client_key) VALUES ($1, 'ABCDEF', 'p', 'k')`,
    'UPDATE identity.embed_handoffs SET bound_at = now() WHERE challenge_hash = $1',
    'DELETE FROM identity.embed_handoffs WHERE challenge_hash = $1',
  ]) {
    expect(await run({ org }, text, text.includes('$1') ? [newHash()] : [])).toBe('42501')
  }
})

it('ID-31 binds to the operation’s own person, who is a member there', async () => {
  const [org, other] = [await world.org(), await world.org()]
  const [member, foreign] = [await world.member(org), await world.member(other)]
  const [anonymous, hash] = [await world.resident(org, 'anonymous'), await started()]
  const refused: Settings[] = [
    {},
    { org },
    { user: member },
    { org, user: foreign },
    { org: other, user: member },
    { org, user: anonymous },
    { org, user: member, room: org },
  ]
  for (const settings of refused) expect(await run(settings, BIND, [hash, 'ABCDEF'])).toBe('42501')
  expect(await rows({ org, user: member }, BIND, [hash, 'ABCDEF'])).toEqual([{ outcome: 'bound' }])
  expect(await rows({ org: other, user: foreign }, BIND, [hash, 'ABCDEF'])).toEqual([{ outcome: 'taken' }])
})

it('ID-32 is used in an operation of whoever bound it, once', async () => {
  const [org, other] = [await world.org(), await world.org()]
  const [member, another] = [await world.member(org), await world.member(org)]
  const hash = await started()
  expect(await rows({}, REDEEM, [hash, false])).toEqual([{ outcome: 'pending', user_id: null, org_id: null }])
  expect(await rows({ org, user: member }, REDEEM, [hash, true])).toEqual([])
  await rows({ org, user: member }, BIND, [hash, 'ABCDEF'])

  expect(await rows({}, REDEEM, [hash, false])).toEqual([{ outcome: 'bound', user_id: member, org_id: org }])
  for (const settings of [{}, { org }, { org, user: another }, { org: other, user: member }]) {
    expect(await rows(settings, REDEEM, [hash, true])).toEqual([])
  }
  expect(await rows({ org, user: member }, REDEEM, [hash, true])).toHaveLength(1)
  expect(await rows({ org, user: member }, REDEEM, [hash, true])).toEqual([])
  expect(await rows({}, REDEEM, [hash, false])).toEqual([])
})

it('ID-30 lives five minutes at most and shows six of thirty characters', async () => {
  for (const code of ['ABCDE', 'ABCDEFG', 'abcdef', 'ABCDE0', 'ABCDEI', 'ABCDEL', 'ABCDEO', 'ABCDEU', 'ABCDE1']) {
    expect(await run({}, START, [newHash(), code, 'meetings', randomBytes(8).toString('hex')]), code).toBe('23514')
  }
  const hash = await started()
  const asOwner = (text: string) => outcome(world.asOwner((query) => query(text, [hash])))
  const change = (set: string) => asOwner(`UPDATE identity.embed_handoffs SET ${set} WHERE challenge_hash = $1`)
  expect(await change(`expires_at = expires_at + interval '1 s'`)).toBe('23514')
  expect(await change('failed_binds = 6')).toBe('23514')
  expect(await change('bound_at = now()')).toBe('23514')
})

it('ID-31 stays what it is once bound and used, for the owner of the table too', async () => {
  const [org, other] = [await world.org(), await world.org()]
  const [member, another] = [await world.member(org), await world.member(org)]
  const hash = await started()
  await rows({ org, user: member }, BIND, [hash, 'ABCDEF'])
  await rows({ org, user: member }, REDEEM, [hash, true])
  for (const [column, value] of [
    ['user_id', another],
    ['org_id', other],
    ['bound_at', new Date(0)],
    ['used_at', null],
  ]) {
    const change = world.asOwner((query) =>
      query(`UPDATE identity.embed_handoffs SET ${column} = $2 WHERE challenge_hash = $1`, [hash, value]),
    )
    expect(await outcome(change), String(column)).toBe('MH008')
  }
})
