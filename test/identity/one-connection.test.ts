import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'
import { useCheapPasswords, useRealPasswords } from './computations.ts'
import { configure, givePassword, PASSWORD } from './identity-app.ts'

let world: World

beforeAll(async () => {
  useCheapPasswords()
  world = await createWorld(await startApp({ MOOTHALL_DATABASE_POOL: '1', MOOTHALL_DATABASE_POOL_WAIT: '1s' }))
  configure()
})
afterAll(async () => {
  useRealPasswords()
  await world?.close()
})

it('ID-22 holds no connection while a password is computed: signing in works with a single one', async () => {
  const person = await world.member()
  const email = await givePassword(world, person)
  const field = (alias: string) => `${alias}: sessionCreateWithPassword(
    input: { email: "${email}", password: "${PASSWORD}", delivery: BEARER }
  ) { ... on SessionCreateWithPasswordPayload { session { user { id } } } }`

  const { data, errors } = await world.app.client().send(`mutation { ${field('first')} ${field('second')} }`)
  expect(errors).toBeUndefined()
  expect(data).toEqual({
    first: { session: { user: { id: person.id } } },
    second: { session: { user: { id: person.id } } },
  })
})
