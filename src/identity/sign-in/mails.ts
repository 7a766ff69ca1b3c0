import { escapeHtml } from '../../lib/html.ts'
import type { Mail } from '../mail/mailer.ts'

type Words = Omit<Mail, 'to'>

/**
 * Where a token is spent: in the fragment, which browsers send to no server, so that no log and no mail scanner that
 * fetches the page has it. Opening it spends nothing; the page there does, when somebody says so (ID-25).
 */
export const signInUrl = (frontendUrl: string, token: string): string =>
  `${frontendUrl.replace(/\/+$/, '')}/sign-in#token=${token}`

type SignIn = { orgName: string; token: string; code: string; frontendUrl: string }

export function signInMail({ orgName, token, code, frontendUrl }: SignIn): Words {
  const url = signInUrl(frontendUrl, token)
  const host = hostOf(frontendUrl)
  return words(`Sign in to ${orgName}`, [
    `Sign in to ${orgName} at ${host}:`,
    { link: url, text: 'Sign in' },
    'Or enter this code where you asked for it:',
    { code },
    'Either works once, within 15 minutes. If you did not ask for it, leave it: nothing happens then.',
  ])
}

type Invitation = { orgName: string; inviterName: string | null; token: string; frontendUrl: string }

export function inviteMail({ orgName, inviterName, token, frontendUrl }: Invitation): Words {
  const who = inviterName === null ? 'You are invited' : `${inviterName} invites you`
  return words(`Join ${orgName}`, [
    `${who} to join ${orgName} at ${hostOf(frontendUrl)}:`,
    { link: signInUrl(frontendUrl, token), text: 'Accept the invitation' },
    'The link works once, within 7 days. If you do not know what this is about, leave it: nothing happens then.',
  ])
}

type Part = string | { link: string; text: string } | { code: string }

/** The same in plain text and in HTML that loads nothing. */
function words(subject: string, parts: readonly Part[]): Words {
  return { subject, text: `${parts.map(plain).join('\n\n')}\n`, html: parts.map(html).join('\n') }
}

function plain(part: Part): string {
  if (typeof part === 'string') return part
  return 'link' in part ? `  ${part.link}` : `  ${part.code}`
}

function html(part: Part): string {
  if (typeof part === 'string') return `<p>${escapeHtml(part)}</p>`
  if ('link' in part) return `<p><a href="${escapeHtml(part.link)}">${escapeHtml(part.text)}</a></p>`
  return `<p style="font-size:1.5em;letter-spacing:0.1em">${escapeHtml(part.code)}</p>`
}

const hostOf = (url: string) => new URL(url).host
