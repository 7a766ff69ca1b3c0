import { afterAll, beforeAll, expect, it } from 'vitest'
import { signInSettled } from '../../src/identity/sign-in/settings.ts'
import { otherCode, REQUEST, WITH_CODE, WITH_TOKEN } from '../identity/mailed.ts'
import { type App, startApp } from '../support/app.ts'
import { decodedMail, type MailReceiver, mailReceiver } from '../support/mail-receiver.ts'
import { createWorld, type World } from '../support/world.ts'

const EMAIL = 'canary@example.org'
const NOTE = 'canary-of-a-note'
const PASSWORD = 'canary-of-a-new-password'
const WAITING = 'canary-waiting@example.org'

let smtp: MailReceiver
let app: App
let world: World
beforeAll(async () => {
  smtp = await mailReceiver()
  app = await startApp({
    NODE_ENV: 'production',
    MOOTHALL_LOG_LEVEL: 'trace',
    MOOTHALL_PUBLIC_URL: 'https://meet.example.org',
    MOOTHALL_SMTP_URL: smtp.url,
    MOOTHALL_MAIL_FROM: 'hall@example.org',
  })
  world = await createWorld(app)
  await world.sql('UPDATE identity.users SET email = $2 WHERE id = $1', [world.owner.userId, EMAIL])
})
afterAll(async () => {
  await world?.close()
  await smtp?.close()
})

it('ID-24, PLAT-14, 23, 75 mailed tokens and codes stand in the mail alone: in no row, log or error', async () => {
  const nobody = app.client()
  const shown: unknown[] = []
  const send = async (document: string, variables: object) => {
    const answer = await nobody.send(document, variables)
    shown.push(answer)
    return answer
  }
  const mail = async () => {
    await send(REQUEST, { input: { email: EMAIL } })
    await signInSettled()
    const text = decodedMail(smtp.received.at(-1)!.raw)
    return { token: /#token=(\S+)/.exec(text)![1]!, code: /^ {2}(\d{6})\r?$/m.exec(text)![1]! }
  }
  const [first, second] = [await mail(), await mail()]
  await send(WITH_TOKEN, { input: { token: first.token } })
  await send(WITH_TOKEN, { input: { token: second.token, delivery: 'PIGEON' } })
  await send(WITH_CODE, { input: { email: EMAIL, code: otherCode(second.code) } })
  await send(`query { loginTokenPreview(token: "${second.token}") { nothing } }`, {})
  await send('mutation ($input: WaitlistJoinInput!) { waitlistJoin(input: $input) { __typename } }', {
    input: { email: WAITING, note: NOTE },
  })
  // A database error quotes the values it is about.
  await world.sql(`
    CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'planted: %', to_jsonb(NEW) USING DETAIL = to_jsonb(NEW)::text; END $$;
    CREATE TRIGGER planted BEFORE INSERT ON identity.login_tokens FOR EACH ROW EXECUTE FUNCTION planted();
    CREATE TRIGGER planted BEFORE INSERT ON identity.sessions FOR EACH ROW EXECUTE FUNCTION planted()`)
  await send(REQUEST, { input: { email: EMAIL } })
  await signInSettled()
  const failed = await send(WITH_TOKEN, { input: { token: second.token } })
  expect(failed.errors).toMatchObject([{ extensions: { code: 'INTERNAL' } }])
  await world.sql('DROP TRIGGER planted ON identity.sessions')
  const { data } = await nobody.send(WITH_TOKEN, { input: { token: second.token, delivery: 'BEARER' } })
  const owner = app.client(data!.sessionCreateWithToken.token)
  shown.push(
    await owner.send(
      `mutation ($input: ViewerSetPasswordInput!) { viewerSetPassword(input: $input) { __typename ... on Error { message } } }`,
      { input: { password: PASSWORD } },
    ),
  )

  expect(app.log()).toContain('a sign-in mail could not be made')
  const rows = await world.sql<{ name: string }>(
    `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
     WHERE table_schema IN ('identity', 'platform') AND table_type = 'BASE TABLE'`,
  )
  const stored: string[] = []
  for (const { name } of rows) {
    stored.push(JSON.stringify(await world.sql(`SELECT to_jsonb(t) AS stored FROM ${name} AS t`)))
  }
  const secrets = [first.token, second.token, PASSWORD]
  for (const secret of secrets) expect(stored.join()).not.toContain(secret)
  for (const code of [first.code, second.code]) expect(stored.join()).not.toContain(`"${code}"`)
  const told = [JSON.stringify(shown), app.log()]
  for (const said of [...secrets, EMAIL, WAITING, NOTE, data!.sessionCreateWithToken.token]) {
    for (const text of told) expect(text).not.toContain(said)
  }
  // Six digits may stand within an id or a time.
  for (const code of [first.code, second.code]) {
    for (const text of told) expect(text).not.toMatch(new RegExp(`(?<![\\w.:-])${code}(?![\\w.:-])`))
  }
})
