import type { Config } from '../../config.ts'
import { Pending } from '../../lib/pending.ts'
import { Slots } from '../../lib/slots.ts'
import { type Mailer, type MailerOptions, openMailer } from '../mail/mailer.ts'
import type { KeyPepper } from '../settings.ts'

export type SignInSettings = {
  /** Whether links and codes sign anybody in. Invitations are accepted either way. */
  linkSignIn: boolean
  /** Where links lead. */
  frontendUrl: string
  /** Newest first: a code is hashed with the first and verified with each. */
  peppers: readonly Uint8Array[]
  mailer: Mailer
  /** Told of what failed behind an answer that was given already. */
  onFailure: (error: unknown) => void
}

let current: SignInSettings | undefined

type Options = MailerOptions & { keyPeppers: readonly KeyPepper[] }

/** Called once at start. Links and codes without a mail server would reach nobody: they are off then (PLAT-75). */
export function openSignIn(config: Config, { keyPeppers, ...options }: Options): void {
  const mailer = openMailer(config, options)
  current = {
    linkSignIn: config.MOOTHALL_LINK_SIGN_IN && mailer.works,
    frontendUrl: config.MOOTHALL_FRONTEND_URL || config.MOOTHALL_PUBLIC_URL,
    peppers: keyPeppers.map(({ secret }) => secret),
    mailer,
    onFailure: (error) => options.log.error({ err: error }, 'a sign-in mail could not be made'),
  }
}

export function signInSettings(): SignInSettings {
  if (!current) throw new Error('signing in by mail is not configured')
  return current
}

/** What is done after an answer: few at once, so that those who wait for theirs keep their connections. */
const slots = new Slots({ limit: 2, waiting: 1_000, refusal: () => new Error('too many sign-in mails wait') })
const pending = new Pending()

/** Longer than an answer takes to leave: whether there is work to do is not to be seen in it. */
const AFTER_THE_ANSWER = 50

/** Does the work once the caller has its answer, which tells nothing of it (ID-24). */
export function afterTheAnswer(work: () => Promise<void>): void {
  const { onFailure } = signInSettings()
  const later = new Promise<void>((resolve) => setTimeout(resolve, AFTER_THE_ANSWER))
  pending.add(later.then(() => slots.run(work)).catch(onFailure))
}

/** Resolves when whatever was to follow an answer is done, mails included. */
export async function signInSettled(): Promise<void> {
  await pending.settled()
  await current?.mailer.settled()
}
