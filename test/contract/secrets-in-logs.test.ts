import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
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
  await world.sql('DROP TRIGGER planted ON identity.users')

  expect(failed.errors?.[0]?.extensions).toMatchObject({ code: 'INTERNAL' })
  const { requestId } = failed.errors![0]!.extensions
  expect(app.log()).toContain(requestId)
  for (const secret of [PASSWORD, WRONG, EMAIL, TOKEN, token, NAME]) {
    expect(app.log()).not.toContain(secret)
    expect(JSON.stringify(shown)).not.toContain(secret)
  }
})

it('ID-50, PLAT-23 a key stands in the answer that made it, and in no row, log or error', async () => {
  const { owner } = world
  const agent = await world.agent()
  const agentId = encodeId('Agent', agent.userId)
  const make = (name: string) =>
    owner.mutate('apiKeyCreate', { agentId, name, scopes: ['ROOMS_READ'] }, 'key apiKey { id }')
  const made = await make('canary')
  const rotated = await owner.mutate('apiKeyRotate', { id: made.apiKey.id, graceMinutes: 5 }, 'key')
  const [key, next] = [made.key as string, rotated.key as string]
  const wrong = `${key.slice(0, 16)}${'Canary'.repeat(8).slice(0, 43)}`
  const shown: unknown[] = [
    await make('canary'),
    await owner.run('{ apiKeys(includeEnded: true) { nodes { id name prefix } } }'),
  ]
  for (const token of [key, next, wrong, `${key}x`]) {
    shown.push(await app.client(token).send('{ viewer { apiKey { name prefix } } nothing }'))
    shown.push(await app.client(token).send('mutation { spaceCreate(input: { name: "x", slug: "x" }) { __typename } }'))
  }
  shown.push(await owner.send(`{ node(id: "${key}") { id } }`))
  await owner.mutate('apiKeyRevoke', { id: made.apiKey.id })
  shown.push(await app.client(key).send('{ viewer { standing } }'))

  const tables = await world.sql<{ name: string }>(
    `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
     WHERE table_schema IN ('identity', 'rooms', 'work', 'gate', 'plugins', 'platform') AND table_type = 'BASE TABLE'`,
  )
  for (const secret of [key, next, wrong].flatMap((full) => [full, full.slice(16)])) {
    expect(app.log()).not.toContain(secret)
    expect(JSON.stringify(shown)).not.toContain(secret)
    for (const { name } of tables) {
      const found = await world.sql(
        `SELECT FROM ${name} AS t WHERE strpos(t::text, $1) > 0 OR strpos(t::text, $2) > 0`,
        [secret, Buffer.from(secret).toString('hex')],
      )
      expect(found, name).toEqual([])
    }
  }
})

it('PLAT-23, 36 a webhook’s secret stands in the answer that made it, and in no row, log, error or body', async () => {
  const { owner } = world
  const url = 'http://127.0.0.1:9/zq-path-of-a-receiver'
  const made = await owner.mutate('webhookCreate', { url, eventTypes: ['*'] }, 'secret webhook { id secretHint }')
  const { id } = made.webhook
  const rotated = await owner.mutate('webhookRotateSecret', { id }, 'secret')
  const { delivery } = await owner.mutate('webhookTest', { id }, 'delivery { id }')
  const shown: unknown[] = [await owner.mutate('webhookUpdate', { id, url: 'https://10.0.0.1/' }, '__typename')]
  const failed =
    '{ webhooks(first: 5) { nodes { id url secretHint deliveries(first: 5) { nodes { id state lastError attempts { errorMessage } } } } } }'
  await vi.waitFor(
    async () => {
      const answer = await owner.run(failed)
      expect(JSON.stringify(answer)).toContain('no connection')
      shown.push(answer)
    },
    { timeout: 15_000 },
  )
  shown.push(await owner.mutate('webhookDeliveryRedeliver', { id: delivery.id }))
  const secrets: string[] = [made.secret, rotated.secret]
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_/)
    const bytes = Buffer.from(secret.slice(6), 'base64')
    for (const text of [app.log(), JSON.stringify(shown)]) expect(text).not.toContain(secret.slice(6, 30))
    const [found] = await world.sql(
      `SELECT FROM platform.webhooks AS w, LATERAL (SELECT w::text AS row) AS text
       WHERE strpos(row, $1) > 0 OR strpos(row, $2) > 0 OR strpos(row, $3) > 0`,
      [secret.slice(6), bytes.toString('hex'), Buffer.from(secret).toString('hex')],
    )
    expect(found).toBeUndefined()
  }
  expect(app.log()).not.toContain('zq-path-of-a-receiver') // an address may hold a secret too
  await owner.mutate('webhookDelete', { id })
})
