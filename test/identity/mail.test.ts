import { PassThrough } from 'node:stream'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { openMailer } from '../../src/identity/mail/mailer.ts'
import { openSignIn, signInSettled } from '../../src/identity/sign-in/settings.ts'
import { createLog, logPlainly } from '../../src/log.ts'
import { decodedMail, type MailFault, type MailReceiver, mailReceiver } from '../support/mail-receiver.ts'
import type { World } from '../support/world.ts'
import { asNobody, configure, startIdentityApp } from './identity-app.ts'
import { giveEmail, PEPPER, REQUEST, withToken } from './mailed.ts'

let world: World
beforeAll(async () => {
  world = await startIdentityApp()
  configure()
})
afterAll(() => world?.close())

let open: MailReceiver[] = []
afterEach(async () => {
  await Promise.all(open.map((each) => each.close()))
  open = []
})

/** The sign-in mails of the world go to that receiver; gives what is logged. */
async function mailTo(
  fault?: MailFault,
  env: Record<string, string> = {},
): Promise<MailReceiver & { log: () => string }> {
  const smtp = await mailReceiver(fault)
  open.push(smtp)
  return {
    ...smtp,
    log: sendBy({ MOOTHALL_SMTP_URL: smtp.url, MOOTHALL_MAIL_FROM: 'Moothall <hall@example.org>', ...env }),
  }
}

function sendBy(env: Record<string, string>): () => string {
  const lines: string[] = []
  const sink = new PassThrough()
  sink.on('data', (line) => lines.push(String(line)))
  const config = readConfig({ NODE_ENV: 'test', MOOTHALL_LOG_LEVEL: 'trace', ...env })
  const log = createLog(config, sink)
  openSignIn(config, {
    keyPeppers: [PEPPER],
    log,
    print: (mail, message) => logPlainly(log, mail, message),
    retryAfter: 5,
  })
  return () => lines.join('')
}

async function ask(email: string) {
  const { data, errors } = await asNobody(world, REQUEST, { input: { email } })
  return errors ?? data?.loginRequest
}
const ACCEPTED = { __typename: 'LoginRequestPayload', accepted: true }
describe('mail', () => {
  it('PLAT-75, ID-24 reaches a mail server, and the token in it signs in', async () => {
    const email = await giveEmail(world, await world.member())
    const smtp = await mailTo(undefined, { NODE_ENV: 'production', MOOTHALL_PUBLIC_URL: 'https://meet.example.org' })
    expect(await ask(email)).toEqual(ACCEPTED)
    await signInSettled()

    expect(smtp.received).toMatchObject([{ from: 'hall@example.org', to: [email] }])
    const mail = decodedMail(smtp.received[0]!.raw)
    expect(mail).toMatch(/^From: Moothall <hall@example\.org>\r$/m)
    expect(mail).toMatch(/^Subject: Sign in to Org\r$/m)
    expect(mail).toContain('text/plain')
    expect(mail).toContain('text/html')
    expect(mail).not.toMatch(/<img|x-mailer/i)
    const tokens = [...mail.matchAll(/https:\/\/meet\.example\.org\/sign-in#token=(mh_link_[\w-]{43})/g)].map(
      ([, token]) => token,
    )
    expect(new Set(tokens).size).toBe(1)
    expect(tokens).toHaveLength(2)
    const [, code] = /^ {2}(\d{6})\r$/m.exec(mail)!
    expect(await withToken(world, tokens[0]!)).toMatchObject({ session: { method: 'MAGIC_LINK' } })
    for (const secret of [tokens[0]!, code!, email]) expect(smtp.log()).not.toContain(secret)
  })

  it('PLAT-75 is tried once more when it is not taken, and no third time', async () => {
    const email = await giveEmail(world, await world.member())
    const once = await mailTo((attempt) => (attempt === 1 ? { responseCode: 451, message: 'later' } : undefined))
    expect(await ask(email)).toEqual(ACCEPTED)
    await signInSettled()
    expect([once.attempts(), once.received.length]).toEqual([2, 1])

    const never = await mailTo(() => ({ responseCode: 550, message: 'no such mailbox' }))
    expect(await ask(email)).toEqual(ACCEPTED)
    await signInSettled()
    expect([never.attempts(), never.received.length]).toEqual([2, 0])
    expect(never.log()).toContain('"responseCode":550')
    for (const quoted of [email, 'mailbox', 'mh_link_']) expect(never.log()).not.toContain(quoted)
  })

  it('PLAT-75 neither delays nor fails the answer when there is nobody at the other end', async () => {
    const email = await giveEmail(world, await world.member())
    const gone = await mailTo()
    await gone.close()
    open = []
    expect(await ask(email)).toEqual(ACCEPTED)
    await signInSettled()
    expect(gone.log()).toContain('a mail could not be sent')
  })

  it('PLAT-74, 75 is awaited by whoever closes: it is sent by then', async () => {
    const email = await giveEmail(world, await world.member())
    const smtp = await mailReceiver()
    open.push(smtp)
    sendBy({ MOOTHALL_SMTP_URL: smtp.url, MOOTHALL_MAIL_FROM: 'hall@example.org' })
    const lock = await world.hold('LOCK TABLE identity.users IN ACCESS EXCLUSIVE MODE')
    expect(await ask(email)).toEqual(ACCEPTED)
    let settled = false
    const closing = signInSettled().then(() => {
      settled = true
    })
    await world.untilBlocked()
    expect(settled).toBe(false)
    await lock.release()
    await closing
    expect(smtp.received).toHaveLength(1)
  })

  it('PLAT-75 is printed to the log with its link where people develop, which nothing redacts', async () => {
    const email = await giveEmail(world, await world.member())
    const log = sendBy({})
    await ask(email)
    await signInSettled()
    const line = JSON.parse(
      log()
        .split('\n')
        .find((each) => each.includes('mh_link_'))!,
    )
    expect(line).toMatchObject({ to: email, subject: 'Sign in to Org', level: 30 })
    const [, token] = /#token=(\S+)/.exec(line.text)!
    expect(await withToken(world, token!)).toMatchObject({ session: { method: 'MAGIC_LINK' } })
  })

  it('PLAT-23, 75 is all that goes past the redactor', () => {
    const lines: string[] = []
    const sink = new PassThrough()
    sink.on('data', (line) => lines.push(String(line)))
    const log = createLog(readConfig({ NODE_ENV: 'test' }), sink)
    const token = `mh_link_${'aB3'.repeat(15).slice(0, 43)}`
    logPlainly(log, { text: token }, 'a mail')
    log.info({ text: token }, `no mail ${token}`)
    expect(lines[0]).toContain(token)
    expect(lines[1]).not.toContain(token)
  })

  it('PLAT-75 goes nowhere in production without a mail server, and is not printed', async () => {
    const lines: string[] = []
    const sink = new PassThrough()
    sink.on('data', (line) => lines.push(String(line)))
    const config = readConfig({ NODE_ENV: 'production' })
    const printed: object[] = []
    const mailer = openMailer(config, { log: createLog(config, sink), print: (mail) => printed.push(mail) })
    mailer.send({ to: 'a@example.org', subject: 's', text: 'secret-text', html: '' })
    await mailer.settled()
    expect(mailer.works).toBe(false)
    expect(printed).toEqual([])
    expect(lines.join()).toContain('MOOTHALL_SMTP_URL')
    expect(lines.join()).not.toMatch(/secret-text|a@example/)
  })

  it('PLAT-76 needs a sender where there is a mail server', () => {
    expect(() => readConfig({ MOOTHALL_SMTP_URL: 'smtp://canary:secret@mail' })).toThrow(/^Variable MOOTHALL_MAIL_FROM/)
    expect(() => readConfig({ MOOTHALL_SMTP_URL: 'http://canary' })).toThrow(
      'Variable MOOTHALL_SMTP_URL cannot be read.',
    )
  })
})
