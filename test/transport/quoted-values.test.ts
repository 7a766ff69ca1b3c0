import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let app: App
let world: World
beforeAll(async () => {
  app = await startApp({ MOOTHALL_LOG_LEVEL: 'trace' })
  world = await createWorld(app)
}, 120_000)
afterAll(() => world.close())

const CANARY = 'c4n4ry'
const SIGN_IN = `mutation ($input: SessionCreateWithPasswordInput!) { sessionCreateWithPassword(input: $input) { __typename } }`
const given = { email: 'a@example.org', password: CANARY }

it.each([
  [
    'a misspelled field',
    { ...given, pasword: CANARY },
    'Variable "$input" got an invalid value; Field "pasword" is not defined',
  ],
  ['a missing field', { password: CANARY }, 'Variable "$input" got an invalid value; Field "email" of required type'],
  [
    'a list',
    { ...given, password: [CANARY] },
    'got an invalid value at "input.password"; String cannot represent a non string value.',
  ],
  [
    'an enum',
    { ...given, delivery: CANARY },
    'got an invalid value at "input.delivery"; The value does not exist in "',
  ],
  [
    'text in place of an object',
    CANARY,
    'got an invalid value; Expected type "SessionCreateWithPasswordInput" to be an object.',
  ],
])('PLAT-23 says what is wrong with %s of the variables and quotes none of them', async (_, input, said) => {
  const { errors } = await app.client().send(SIGN_IN, { input })
  expect(errors!.map(({ message }) => message).join()).toContain(said)
  expect(errors![0]!.extensions.code).toBe('BAD_REQUEST')
  expect(JSON.stringify(errors)).not.toContain(CANARY)
  expect(app.log()).not.toContain(CANARY)
})

it.each([
  [`password: ["${CANARY}"]`, 'String cannot represent a non string value.'],
  [`password: "x", delivery: "${CANARY}"`, 'Enum "'],
  [`password: "x", delivery: ${CANARY}`, 'The value does not exist in "'],
  [`password: "x" "${CANARY}"`, 'Syntax Error: Expected Name, found String'],
])('PLAT-23 says what is wrong with %s in the document and quotes no value', async (fields, said) => {
  const document = `mutation { sessionCreateWithPassword(input: { email: "a@example.org", ${fields} }) { __typename } }`
  const { errors } = await app.client().send(document)
  expect(errors!.map(({ message }) => message).join()).toContain(said)
  expect(JSON.stringify(errors)).not.toContain(CANARY)
  expect(app.log()).not.toContain(CANARY)
})

it('PLAT-23 quotes no scalar of ours and keeps what is expected of it', async () => {
  const { room, host } = await world.pokerRoom()
  const vote = (version: string) =>
    host.send(
      `mutation { voteCast(input: { roomId: "${room.id}", storyId: "${room.round.storyId}", roundVersion: ${version}, card: "5" }) { __typename } }`,
    )
  for (const answer of [
    await vote(`"${CANARY}"`),
    await host.attempt('voteCast', { roomId: room.id, ...room.round, roundVersion: CANARY, card: '5' }),
  ]) {
    expect(answer.errors![0]!.message).toContain('expected a 64-bit integer')
    expect(JSON.stringify(answer)).not.toContain(CANARY)
  }
})

it('PLAT-23 redacts a token that stands where a name should', async () => {
  const token = `mhs_${'Canary'.repeat(8).slice(0, 43)}`
  const { errors } = await world.owner.send(`{ ${token} }`)
  expect(errors![0]!.message).toBe('Cannot query field "<redacted>" on type "Query".')
})
