import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hashCode, newCode } from '../../src/identity/sign-in/token.ts'
import type { Actor } from '../support/actor.ts'
import { uuidOf, type World } from '../support/world.ts'
import { asNobody, configure, factsAbout, newAddress, startIdentityApp } from './identity-app.ts'
import { catchMail, giveEmail, mailedTo, otherCode, PEPPER, WITH_CODE, withCode, withToken } from './mailed.ts'

let world: World
let person: Actor
let email: string

beforeAll(async () => {
  world = await startIdentityApp()
})
beforeEach(async () => {
  configure()
  catchMail()
  person = await world.member()
  email = await giveEmail(world, person)
})
afterAll(() => world?.close())

const FAILED = { __typename: 'SignInFailedError', code: 'SIGN_IN_FAILED' }
const sessions = async ({ userId, sessionId }: Actor) =>
  (await world.sql('SELECT id FROM identity.sessions WHERE user_id = $1 AND id <> $2', [userId, sessionId])).length
const tokenRow = async ({ userId }: Actor) => {
  const rows = await world.sql<{
    id: string
    code_attempts: number
    voided: boolean
    used: boolean
    code_hash: Buffer
  }>(
    `SELECT id, code_attempts, code_hash, voided_at IS NOT NULL AS voided, used_at IS NOT NULL AS used
     FROM identity.login_tokens WHERE user_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1`,
    [userId],
  )
  return rows[0]!
}

describe('signing in by code', () => {
  it('ID-26 takes the six digits of the mail, however they are typed', async () => {
    const { code } = await mailedTo(world, email)
    expect(code).toMatch(/^\d{6}$/)
    const signedIn = await withCode(world, ` ${email.toUpperCase()}`, `${code.slice(0, 3)} ${code.slice(3)}`)
    expect(signedIn.session).toMatchObject({ method: 'CODE', user: { id: person.id } })
    expect(await factsAbout(world, uuidOf(signedIn.session.id))).toMatchObject([
      { type: 'session.created', payload: { method: 'code' } },
    ])
  })

  it('ID-26 spends link and code by either', async () => {
    const first = await mailedTo(world, email)
    expect(await withCode(world, email, first.code)).toHaveProperty('session')
    expect(await withToken(world, first.token)).toMatchObject(FAILED)
    expect(await withCode(world, email, first.code)).toMatchObject(FAILED)

    const second = await mailedTo(world, email)
    expect(await withToken(world, second.token)).toHaveProperty('session')
    expect(await withCode(world, email, second.code)).toMatchObject(FAILED)
  })

  it('ID-26 voids the token at the fifth miss, the link with it; the right code then fails', async () => {
    const { code, token } = await mailedTo(world, email)
    for (let misses = 1; misses <= 5; misses++) {
      expect(await withCode(world, email, misses === 3 ? 'no digits' : otherCode(code))).toMatchObject(FAILED)
      expect(await tokenRow(person)).toMatchObject({ code_attempts: misses, voided: misses === 5, used: false })
    }
    expect(await withCode(world, email, code)).toMatchObject(FAILED)
    expect(await withToken(world, token)).toMatchObject(FAILED)
    expect(await sessions(person)).toBe(0)
  })

  it('ID-26 takes the right code after four misses', async () => {
    const { code } = await mailedTo(world, email)
    for (let misses = 1; misses <= 4; misses++) await withCode(world, email, otherCode(code))
    expect(await withCode(world, email, code)).toHaveProperty('session')
  })

  it('ID-26 counts every miss of many at once: no more than five are ever compared', async () => {
    configure({}, { signInPerson: 1_000 })
    const { code } = await mailedTo(world, email)
    const guesses = Array.from({ length: 20 }, (_, at) => String((Number(code) + 1 + at) % 1_000_000).padStart(6, '0'))
    const answers = await Promise.all(guesses.map((guess) => withCode(world, email, guess)))
    expect(answers.every(({ code: answer }) => answer === 'SIGN_IN_FAILED')).toBe(true)
    expect(await tokenRow(person)).toMatchObject({ code_attempts: 5, voided: true })
    const facts = await factsAbout(world, person.userId)
    expect(facts.filter(({ payload }) => payload['reason'] === 'wrong_code')).toHaveLength(5)
    expect(await withCode(world, email, code)).toMatchObject(FAILED)
  })

  it('ID-26, 29 takes no code of who is disabled while it is being used', async () => {
    const { code } = await mailedTo(world, email)
    const held = await world.hold(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [person.userId])
    const using = withCode(world, email, code)
    await world.untilBlocked()
    await held.release()
    expect(await using).toMatchObject(FAILED)
    expect(await tokenRow(person)).toMatchObject({ used: false, code_attempts: 0 })
    expect(await sessions(person)).toBe(0)
  })

  it('ID-26 makes one session when 20 give the right code at once', async () => {
    configure({}, { signInPerson: 1_000 })
    const { code } = await mailedTo(world, email)
    const answers = await Promise.all(Array.from({ length: 20 }, () => withCode(world, email, code)))
    expect(answers.filter(({ session }) => session)).toHaveLength(1)
    expect(await sessions(person)).toBe(1)
  })

  it('ID-26 takes the newest code alone', async () => {
    const older = await mailedTo(world, email)
    const newer = await mailedTo(world, email)
    if (older.code !== newer.code) expect(await withCode(world, email, older.code)).toMatchObject(FAILED)
    expect(await withCode(world, email, newer.code)).toHaveProperty('session')
  })

  it('ID-26 does not take the code of somebody else', async () => {
    const [mine, theirs] = [
      await mailedTo(world, email),
      await mailedTo(world, await giveEmail(world, await world.member())),
    ]
    if (mine.code !== theirs.code) expect(await withCode(world, email, theirs.code)).toMatchObject(FAILED)
    expect(await withCode(world, email, mine.code)).toHaveProperty('session')
  })

  it('ID-23, 26 gives one answer, at one time, to a known and an unknown email; the known one is on record', async () => {
    const { code } = await mailedTo(world, email)
    const disabled = await world.member()
    const disabledEmail = await giveEmail(world, disabled)
    await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [disabled.userId])
    const without = await giveEmail(world, await world.member())

    const answers: string[] = []
    const times: number[] = []
    for (const address of ['unknown@example.org', 'no address', without, disabledEmail, email]) {
      const begun = performance.now()
      const { data } = await asNobody(world, WITH_CODE, { input: { email: address, code: otherCode(code) } })
      times.push(performance.now() - begun)
      answers.push(JSON.stringify(data))
    }
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toContain('SIGN_IN_FAILED')
    // No refusal comes before the time that every refusal takes, however little there is to do.
    expect(Math.min(...times)).toBeGreaterThan(245)
    expect(await factsAbout(world, disabled.userId)).toMatchObject([
      { payload: { method: 'code', reason: 'not_active' } },
    ])
    expect(await factsAbout(world, person.userId)).toMatchObject([
      { payload: { method: 'code', reason: 'wrong_code' } },
    ])
  })

  it('PLAT-69 lets nobody fail more than five times as one person from one address', async () => {
    const address = newAddress()
    const { code } = await mailedTo(world, email)
    for (let at = 0; at < 5; at++)
      expect(await withCode(world, 'nobody@example.org', '000000', address)).toMatchObject(FAILED)
    expect(await withCode(world, 'nobody@example.org', '000000', address)).toMatchObject({ code: 'RATE_LIMITED' })
    expect(await withCode(world, email, code, address)).toHaveProperty('session')
  })
})

describe('the stored code', () => {
  it('ID-24 is an HMAC under the pepper, of the token’s id and the code', async () => {
    const { code } = await mailedTo(world, email)
    const { id, code_hash: hash } = await tokenRow(person)
    expect(hash).toEqual(createHmac('sha256', PEPPER.secret).update(`${id}${code}`).digest())
    expect(hashCode(PEPPER.secret, id, code)).toEqual(hash)
  })

  it('ID-56 fits under an older pepper until it expires, and under none that is gone', async () => {
    const newer = { id: 2, secret: Buffer.alloc(32, 'newer') }
    const { code } = await mailedTo(world, email)
    catchMail({}, [newer])
    expect(await withCode(world, email, code)).toMatchObject(FAILED)
    catchMail({}, [newer, PEPPER])
    expect(await withCode(world, email, code)).toHaveProperty('session')
  })

  it('ID-24 has all of a million values, leading zeros too', () => {
    const codes = Array.from({ length: 5_000 }, newCode)
    expect(codes.every((code) => /^\d{6}$/.test(code))).toBe(true)
    expect(new Set(codes.map((code) => code[0])).size).toBe(10)
  })
})
