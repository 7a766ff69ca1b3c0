import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { openMailer } from '../../src/identity/mail/mailer.ts'
import { emailFault, emailOf } from '../../src/identity/user/email.ts'
import { createLog } from '../../src/log.ts'
import { type MailReceiver, mailReceiver } from '../support/mail-receiver.ts'

let smtp: MailReceiver
beforeAll(async () => {
  smtp = await mailReceiver()
})
afterAll(() => smtp?.close())

it.each([
  'x,victim@example.org',
  'x;victim@example.org',
  '<victim@example.org>',
  'ada<victim@example.org>',
  'group:victim@example.org',
  'victim@example.org(ada)',
  '(ada)victim@example.org',
  '"ada"victim@example.org',
  'ada\\@example.org',
  'victim@[127.0.0.1]',
  'victim@example。org',
  'victim@example.org>ada',
])('ID-24, 34 take nothing for an email that mail would read as another: %s', (text) => {
  expect(emailFault(emailOf(text))).toBe('must be an email address')
})

it.each(['ada@example.org', "o'brien+tag_x=1%{}~!#$&*/?^`|-.@example.org", 'ädä@exämple.org', 'ada@localhost'])(
  'ID-34 take what is an email: %s',
  (text) => {
    expect(emailFault(emailOf(text))).toBeNull()
  },
)

it('PLAT-75 sends one mail to the one address it was given, whatever stands in it', async () => {
  const config = readConfig({ NODE_ENV: 'test', MOOTHALL_SMTP_URL: smtp.url, MOOTHALL_MAIL_FROM: 'hall@example.org' })
  const mailer = openMailer(config, { log: createLog(config), print: () => {}, retryAfter: 1 })
  mailer.send({ to: 'x,victim@example.org', subject: 'Sign in', text: 'secret', html: 'secret' })
  await mailer.settled()
  expect(smtp.received.flatMap(({ to }) => to)).not.toContain('victim@example.org')
})
