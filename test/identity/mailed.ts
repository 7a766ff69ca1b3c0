import { PassThrough } from 'node:stream'
import { readConfig } from '../../src/config.ts'
import type { Mail } from '../../src/identity/mail/mailer.ts'
import { openSignIn, signInSettled } from '../../src/identity/sign-in/settings.ts'
import { createLog } from '../../src/log.ts'
import type { Actor } from '../support/actor.ts'
import type { Answer } from '../support/client.ts'
import type { World } from '../support/world.ts'
import { asNobody, newAddress } from './identity-app.ts'

export const PEPPER = { id: 1, secret: Buffer.alloc(32, 'pepper') }

/** What was mailed since `catchMail`, the oldest first. */
export const mails: Mail[] = []

/** What was logged about them. */
export const logged: string[] = []

/** From here on mails end here; other settings than the defaults on request. */
export function catchMail(env: Record<string, string> = {}, keyPeppers = [PEPPER]): void {
  mails.length = 0
  logged.length = 0
  const config = readConfig({ NODE_ENV: 'test', ...env })
  const sink = new PassThrough()
  sink.on('data', (line) => logged.push(String(line)))
  openSignIn(config, {
    keyPeppers,
    log: createLog(config, sink),
    print: (mail) => mails.push(mail as Mail),
  })
}

export const REQUEST = `mutation ($input: LoginRequestInput!) {
  loginRequest(input: $input) { __typename ... on LoginRequestPayload { accepted } ... on Error { code message } } }`

export const WITH_TOKEN = `mutation ($input: SessionCreateWithTokenInput!) {
  sessionCreateWithToken(input: $input) { __typename
    ... on SessionCreateWithTokenPayload { token csrfToken session { id method user { id } } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } } } }`

export const WITH_CODE = `mutation ($input: SessionCreateWithCodeInput!) {
  sessionCreateWithCode(input: $input) { __typename
    ... on SessionCreateWithCodePayload { token csrfToken session { id method user { id } } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } } } }`

export const PREVIEW = `query ($token: String!) { loginTokenPreview(token: $token) { orgName purpose expiresAt } }`

export const tokenOf = ({ text }: Pick<Mail, 'text'>): string => /#token=(\S+)/.exec(text)?.[1] ?? ''
export const codeOf = ({ text }: Pick<Mail, 'text'>): string => /^ {2}(\d{6})$/m.exec(text)?.[1] ?? ''

export type Mailed = { token: string; code: string; mail: Mail }

/** Asks for a sign-in mail and gives what came; nothing when none did. */
export async function requestMail(world: World, email: string): Promise<Mailed | undefined> {
  const before = mails.length
  const { data } = await asNobody(world, REQUEST, { input: { email } })
  if (data?.loginRequest.accepted !== true) throw new Error(`not accepted: ${JSON.stringify(data)}`)
  await signInSettled()
  const mail = mails[before]
  return mail && { token: tokenOf(mail), code: codeOf(mail), mail }
}

/** The mail that must have come. */
export async function mailedTo(world: World, email: string): Promise<Mailed> {
  const mailed = await requestMail(world, email)
  if (!mailed) throw new Error('no mail came')
  return mailed
}

/** The field's answer, of nobody from that address. */
export async function withToken(world: World, token: string, address = newAddress()) {
  return outcome(await asNobody(world, WITH_TOKEN, { input: { token, delivery: 'BEARER' } }, address))
}

export async function withCode(world: World, email: string, code: string, address = newAddress()) {
  return outcome(await asNobody(world, WITH_CODE, { input: { email, code, delivery: 'BEARER' } }, address))
}

/** The one field of the answer, or the code of the top-level error. */
function outcome({ data, errors }: Answer) {
  if (errors) return { __typename: 'top-level', code: errors[0]?.extensions.code }
  return Object.values(data as object)[0]
}

let emails = 0

/** Gives a registered person of the world an email. */
export async function giveEmail(world: World, { userId }: Pick<Actor, 'userId'>): Promise<string> {
  const email = `mailed-${++emails}@example.org`
  await world.sql('UPDATE identity.users SET email = $2 WHERE id = $1', [userId, email])
  return email
}

/** A code that is not this one. */
export const otherCode = (code: string): string => String((Number(code) + 1) % 1_000_000).padStart(6, '0')
