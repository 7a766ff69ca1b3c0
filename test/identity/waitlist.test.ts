import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { sql } from '../../src/db/sql.ts'
import { serverEnv } from '../support/app.ts'
import { moothall } from '../support/command.ts'
import type { World } from '../support/world.ts'
import { asNobody, configure, newAddress, startIdentityApp } from './identity-app.ts'

const JOIN = `mutation ($input: WaitlistJoinInput!) { waitlistJoin(input: $input) { __typename
  ... on WaitlistJoinPayload { accepted } ... on Error { code message } ... on InvalidInputError { issues { path } } } }`
const ACCEPTED = { waitlistJoin: { __typename: 'WaitlistJoinPayload', accepted: true } }

let world: World

beforeAll(async () => {
  world = await startIdentityApp()
})
beforeEach(async () => {
  configure()
  await world.sql('DELETE FROM identity.waitlist')
})
afterAll(() => world?.close())

const join = (input: { email: string; note?: string }, address?: string) => asNobody(world, JOIN, { input }, address)
const waiting = () => world.sql('SELECT email, note FROM identity.waitlist ORDER BY created_at, id')

describe('the waitlist', () => {
  it('PLAT-10 takes an email once, in whatever spelling, and answers alike each time', async () => {
    const answers = [
      await join({ email: ' Ada@Example.org ', note: 'please' }),
      await join({ email: 'ada@example.org', note: 'again' }),
      await join({ email: 'bo@example.org' }),
    ]
    expect(answers.map(({ data }) => data)).toEqual([ACCEPTED, ACCEPTED, ACCEPTED])
    expect(await waiting()).toEqual([
      { email: 'ada@example.org', note: 'please' },
      { email: 'bo@example.org', note: null },
    ])
  })

  it('PLAT-10 takes the same email from many at once, once', async () => {
    const answers = await Promise.all(Array.from({ length: 15 }, () => join({ email: 'ada@example.org' })))
    expect(answers.every(({ data }) => data?.waitlistJoin.accepted)).toBe(true)
    expect(await waiting()).toHaveLength(1)
  })

  it('PLAT-10 takes no email that is none, and no long note', async () => {
    for (const input of [{ email: 'ada' }, { email: 'a@b c' }, { email: 'a@b', note: 'x'.repeat(501) }]) {
      expect((await join(input)).data?.waitlistJoin).toMatchObject({ code: 'INVALID_INPUT' })
    }
    expect(await waiting()).toEqual([])
  })

  it('PLAT-69 takes 20 an hour from one address', async () => {
    const address = newAddress()
    for (let at = 0; at < 20; at++)
      expect((await join({ email: `n${at}@example.org` }, address)).data).toEqual(ACCEPTED)
    const { errors } = await join({ email: 'more@example.org' }, address)
    expect(errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }])
    expect(await waiting()).toHaveLength(20)
  })

  it('PLAT-4, 10 is added to before any org is known, and read by no operation of the server', async () => {
    const add = () => sql`INSERT INTO identity.waitlist (email) VALUES ('c@example.org') ON CONFLICT DO NOTHING`
    await operation('preauth', {}, add)
    const read = () => sql`SELECT email FROM identity.waitlist`
    for (const kind of ['read', 'write'] as const) {
      await expect(operation(kind, { orgId: world.org.id, userId: world.owner.userId }, read)).rejects.toMatchObject({
        code: '42501',
      })
    }
    await expect(operation('preauth', {}, read)).rejects.toThrow('statement of no preauth operation')
    const returning = () => sql`INSERT INTO identity.waitlist (email) VALUES ('d@example.org') RETURNING email`
    await expect(operation('preauth', {}, returning)).rejects.toMatchObject({ code: '42501' })
    const change = () => sql`UPDATE identity.waitlist SET note = 'changed'`
    await expect(operation('write', { orgId: world.org.id }, change)).rejects.toMatchObject({ code: '42501' })
  })
})

// Each command is a process that loads the product anew.
it('PLAT-80 the command line lists who waits and takes them off', { timeout: 180_000 }, async () => {
  await join({ email: 'ada@example.org', note: 'please\u001b[31m now' })
  await join({ email: 'bo@example.org' })
  const env = serverEnv(world.app.database)

  const [listed, words] = await Promise.all([
    moothall(['waitlist', 'list', '--json'], env),
    moothall(['waitlist', 'list'], env),
  ])
  expect(JSON.parse(listed.stdout).entries).toMatchObject([
    { email: 'ada@example.org', note: 'please\u001b[31m now', createdAt: expect.stringMatching(/^20.*Z$/) },
    { email: 'bo@example.org', note: null },
  ])
  expect(words.stdout).toMatch(/^20\S+Z {2}ada@example\.org {2}please \[31m now\n/)

  expect(await moothall(['waitlist', 'remove', 'Ada@example.org'], env)).toMatchObject({
    code: 0,
    stdout: 'Removed.\n',
  })
  const [again, missing] = await Promise.all([
    moothall(['waitlist', 'remove', 'ada@example.org'], env),
    moothall(['waitlist', 'remove'], env),
  ])
  expect(again).toMatchObject({ code: 1, stdout: '' })
  expect(missing).toMatchObject({ code: 2 })
  expect(await waiting()).toEqual([{ email: 'bo@example.org', note: null }])
})
