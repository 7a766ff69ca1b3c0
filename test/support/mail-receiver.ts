import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'

export type Received = { from: string; to: string[]; raw: string }
export type MailFault = (attempt: number) => { responseCode: number; message: string } | undefined

/** A mail server that takes what it does not refuse. */
export async function mailReceiver(fault: MailFault = () => undefined) {
  const received: Received[] = []
  let attempts = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onRcptTo({ address }, _session, done) {
      const refusal = fault(++attempts)
      done(
        refusal
          ? Object.assign(new Error(`${refusal.message} <${address}>`), { responseCode: refusal.responseCode })
          : null,
      )
    },
    onData(stream, { envelope }, done) {
      void text(stream).then((raw) => {
        received.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          raw,
        })
        done()
      })
    },
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    attempts: () => attempts,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

export type MailReceiver = Awaited<ReturnType<typeof mailReceiver>>

/** Undoes the line breaks and escapes of quoted-printable. */
export const decodedMail = (raw: string) =>
  raw
    .replace(/=\r?\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
