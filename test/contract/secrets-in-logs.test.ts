import { afterAll, beforeAll, expect, it } from 'vitest'
import { hashPassword } from '../../src/identity/session/password.ts'
import { type App, startApp } from '../support/app.ts'
import { SIGN_IN, SIGN_IN_ANONYMOUSLY } from '../support/documents.ts'
import { createWorld, type World } from '../support/world.ts'

const PASSWORD = 'canary-of-a-password'
const WRONG = 'canary-of-a-wrong-password'
const EMAIL = 'canary@example.org'
const TOKEN = `mhs_${'Canary'.repeat(8).slice(0, 43)}`
const NAME = 'Canary Word'

let app: App
let world: World
beforeAll(async () => {
  app = await startApp({ MOOTHALL_LOG_LEVEL: 'trace' })
  world = await createWorld(app)
  await world.sql(`UPDATE identity.users SET email = $2, password_hash = $3 WHERE id = $1`, [
    world.owner.userId,
    EMAIL,
    await hashPassword(PASSWORD),
  ])
})
afterAll(() => world.close())

it('PLAT-23 no password, token, email or text of a person is logged or comes back in an error', async () => {
  const nobody = app.client()
  const signIn = (password: string) => nobody.send(SIGN_IN, { input: { email: EMAIL, password, delivery: 'BEARER' } })
  const shown: unknown[] = []

  const signedIn = await signIn(PASSWORD)
  const { token } = signedIn.data!.sessionCreateWithPassword as { token: string }
  expect(token).toMatch(/^mhs_/)
  shown.push(await signIn(WRONG))
  shown.push(await app.client(TOKEN).send('{ viewer { user { id } } }'))
  shown.push(await app.client(token).send('{ nothing }'))
  shown.push(await nobody.send(SIGN_IN, { input: { email: EMAIL, password: WRONG, delivery: 'PIGEON' as 'COOKIE' } }))
  shown.push(await (await nobody.post('{', {}, { authorization: `Basic ${PASSWORD}` })).json())
  // A database error quotes the values it is about.
  await world.sql(`
    CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'planted: %', NEW.display_name USING DETAIL = NEW.display_name; END $$;
    CREATE TRIGGER planted BEFORE INSERT ON identity.users FOR EACH ROW EXECUTE FUNCTION planted()`)
  const failed = await nobody.send(SIGN_IN_ANONYMOUSLY, { input: { orgSlug: world.org.slug, displayName: NAME } })
  shown.push(failed)

  expect(failed.errors?.[0]?.extensions).toMatchObject({ code: 'INTERNAL' })
  const { requestId } = failed.errors![0]!.extensions
  expect(app.log()).toContain(requestId)
  for (const secret of [PASSWORD, WRONG, EMAIL, TOKEN, token, NAME]) {
    expect(app.log()).not.toContain(secret)
    expect(JSON.stringify(shown)).not.toContain(secret)
  }
})
