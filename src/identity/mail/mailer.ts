import { setTimeout as pause } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import SMTPTransport from 'nodemailer/lib/smtp-transport/index.js'
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import { Pending } from '../../lib/pending.ts'
import { Slots } from '../../lib/slots.ts'

/** One person's mail. It holds secrets: it is sent and forgotten. */
export type Mail = { to: string; subject: string; text: string; html: string }

export type Mailer = {
  /** Whether mail reaches anybody: by SMTP, or outside production the log. */
  readonly works: boolean
  /** Takes the mail and returns at once; what becomes of it is nobody's answer. Call it after the commit (PLAT-75). */
  send(mail: Mail): void
  /** Resolves when all that was taken is sent or given up. */
  settled(): Promise<void>
}

export type MailerOptions = {
  log: Logger
  /** Writes a line to the log as it is, secrets and all; for development alone. */
  print: (mail: object, message: string) => void
  retryAfter?: number
}

type MailConfig = Pick<Config, 'NODE_ENV' | 'MOOTHALL_SMTP_URL' | 'MOOTHALL_MAIL_FROM'>

const RETRY_AFTER = 1_000
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000, dnsTimeout: 10_000 }
/** Nothing about us, and nothing fetched on the way. */
const PLAIN = { xMailer: false, disableFileAccess: true, disableUrlAccess: true } as const
/** Mails on their way at once, and how many may wait; a flood beyond is dropped rather than kept in memory. */
const AT_ONCE = { limit: 4, waiting: 1_000 }

/** The operator's mail server; without one mails are printed to the log, and in production go nowhere. */
export function openMailer(config: MailConfig, options: MailerOptions): Mailer {
  if (config.MOOTHALL_SMTP_URL !== '') return smtpMailer(config, options)
  if (config.NODE_ENV === 'production') return noMailer(options)
  return printingMailer(options)
}

function smtpMailer(config: MailConfig, { log, retryAfter = RETRY_AFTER }: MailerOptions): Mailer {
  // Given the URL alone it would drop every other option.
  const transport = createTransport(new SMTPTransport({ ...TIMEOUTS, url: config.MOOTHALL_SMTP_URL }))
  const slots = new Slots({ ...AT_ONCE, refusal: () => new Error('too many mails wait') })
  const pending = new Pending()
  // As an object it is one address and never read as a list.
  const attempt = ({ to, ...mail }: Mail) =>
    transport.sendMail({ from: config.MOOTHALL_MAIL_FROM, to: { name: '', address: to }, ...PLAIN, ...mail })

  async function deliver(mail: Mail): Promise<void> {
    try {
      await attempt(mail)
    } catch (error) {
      log.warn(faultOf(error), 'a mail was not taken; it is tried once more')
      await pause(retryAfter)
      await attempt(mail)
    }
  }

  return {
    works: true,
    send: (mail) =>
      pending.add(
        slots.run(() => deliver(mail)).catch((error: unknown) => log.error(faultOf(error), 'a mail could not be sent')),
      ),
    settled: () => pending.settled(),
  }
}

/** What a mail server answers may quote the address or the mail: only its codes are kept (PLAT-82). */
function faultOf(error: unknown): object {
  const { code, responseCode, command } = error as Record<string, unknown>
  return { mail: { code, responseCode, command: typeof command === 'string' ? command.slice(0, 20) : undefined } }
}

const printingMailer = ({ print }: MailerOptions): Mailer => ({
  works: true,
  send: ({ to, subject, text }) => print({ to, subject, text }, 'no MOOTHALL_SMTP_URL is set, so here is the mail'),
  settled: async () => {},
})

const noMailer = ({ log }: MailerOptions): Mailer => ({
  works: false,
  send: () => log.error('a mail was not sent: MOOTHALL_SMTP_URL is not set'),
  settled: async () => {},
})
