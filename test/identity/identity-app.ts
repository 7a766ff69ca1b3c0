import { readConfig } from '../../src/config.ts'
import { operation } from '../../src/db/operation.ts'
import type { Caller } from '../../src/graphql/caller.ts'
import { scopeOf } from '../../src/graphql/context.ts'
import { configureIdentity } from '../../src/identity/index.ts'
import { hashPassword } from '../../src/identity/session/password.ts'
import { recheckSessions } from '../../src/identity/session/recheck-sessions.ts'
import { createRateLimiter } from '../../src/platform/index.ts'
import type { Actor } from '../support/actor.ts'
import { PEPPER } from '../support/api-key.ts'
import { startApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
import { createWorld, type World } from '../support/world.ts'

export const PASSWORD = 'correct horse battery'
export const DAY = 24 * 60 * 60

/** A world behind one trusted proxy, so that a test says from which address it comes. */
export async function startIdentityApp(): Promise<World> {
  const world = await createWorld(await startApp({ MOOTHALL_TRUST_PROXY: '1' }))
  configure()
  return world
}

/** Other settings than the defaults, and counters at zero. */
export function configure(
  env: Record<string, string> = {},
  points: Parameters<typeof createRateLimiter>[0]['points'] = {},
): void {
  const limiter = createRateLimiter({ secret: 'of the tests', points: { anonymousSession: 10_000, ...points } })
  configureIdentity(readConfig({ NODE_ENV: 'test', ...env }), limiter, [{ id: 1, secret: PEPPER }])
}

let addresses = 0
/** An address that nothing was counted for. */
export const newAddress = (): string => `2001:db8:${(++addresses).toString(16)}::1`

/** A document of nobody from that address. */
export function asNobody(world: World, document: string, variables: object, address = newAddress()): Promise<Answer> {
  return world.app.client().send(document, variables, { 'x-forwarded-for': address })
}

export const CREATE_ANONYMOUS = `mutation ($input: SessionCreateAnonymousInput!) {
  sessionCreateAnonymous(input: $input) { __typename
    ... on SessionCreateAnonymousPayload { token csrfToken session { id isCurrent method user { id displayName account } } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } } ... on NotFoundError { path } } }`

export const SIGN_IN = `mutation ($input: SessionCreateWithPasswordInput!) {
  sessionCreateWithPassword(input: $input) { __typename
    ... on SessionCreateWithPasswordPayload { token csrfToken session { id isCurrent method user { id } } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } } ... on NotFoundError { path } } }`

let hash: Promise<string> | undefined
let emails = 0

/** Gives a registered person of the world an email and the password `PASSWORD`; computed once a file. */
export async function givePassword(world: World, { userId }: Pick<Actor, 'userId'>): Promise<string> {
  hash ??= hashPassword(PASSWORD)
  const email = `person-${++emails}@example.org`
  await world.sql('UPDATE identity.users SET email = $2, password_hash = $3 WHERE id = $1', [userId, email, await hash])
  return email
}

/** Who an actor's session says they are, for use-cases that have no field of their own. */
export async function callerFor({ sessionId }: Pick<Actor, 'sessionId'>): Promise<Caller> {
  const held = (await recheckSessions([sessionId])).get(sessionId)
  if (!held) throw new Error('the session does not hold')
  return held.caller
}

/** Runs a use-case as its mutation would. */
export function asMutation<T>(caller: Caller, body: (caller: Caller) => Promise<T>): Promise<T> {
  return operation('write', scopeOf(caller), () => body(caller))
}

export type Fact = {
  type: string
  actorKind: string
  actorUserId: string | null
  targetId: string | null
  payload: Record<string, unknown>
  requestId: string | null
}

/** What was recorded about a person, a session or an org, oldest first. */
export function factsAbout(world: World, targetId: string): Promise<Fact[]> {
  return world.sql<Fact>(
    `SELECT event_type AS type, actor_kind AS "actorKind", actor_user_id AS "actorUserId", target_id AS "targetId",
       payload, request_id AS "requestId"
     FROM platform.audit_events WHERE target_id = $1 ORDER BY created_at, id`,
    [targetId],
  )
}
