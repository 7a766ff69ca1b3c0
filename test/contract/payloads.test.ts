import { getNamedType } from 'graphql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { endsSessions, MUTATION_PLAYS, WRITTEN } from './mutation-plays.ts'
import { MUTATIONS, perform } from './perform.ts'
import { fieldAt, type Slot, slotsOf, valueAt } from './schema-walk.ts'
import { PASSWORD, type Play, Stage } from './stage.ts'

/**
 * Text that is no writing: names that a program gives, what is checked against a list, and what lets somebody in, which
 * has to be right for the mutation to change anything. None of it is stored as it was written, and the shape of payloads
 * shows that none came there.
 */
const NOT_WRITTEN = [
  /^RoomActInput\.action$/,
  /^RoomLinkRedeemInput\.(token|guestKey)$/,
  /^StandupScheduleSetInput\.(openTime|timezone)$/,
  /\.(slug|orgSlug|confirmSlug)$/,
  /^SessionCreateWithPasswordInput\.(email|password)$/,
  /^(LoginRequest|WaitlistJoin)Input\.email$/,
  /^SessionCreateWith(Code|Token)Input\.(email|code|token)$/,
  /^ViewerSetPasswordInput\./,
  /^EmbedHandoff(Start|Bind|Redeem)Input\./,
  /^RoomCreateInput\.kind$/,
  /^PokerCardsInput\.cards/,
  /^StoryEstimateInput\.estimate$/,
  /^VoteCastInput\.card$/,
  /^StandupEntryReactInput\.emoji$/,
  /^SpaceJoinInput\.passcode$/,
  /^AgentCreateInput\.name$/,
  /^Agent(Add|Remove)IntentKeyInput\.(publicKey|kid)$/,
  /^OrgUpdateInput\.timeZone$/,
  /^Webhook(Create|Update)Input\.eventTypes/,
]

/** What keys are told apart by, which is no secret, and what they are good for (ID-48, 52). */
const PREFIX = /^[A-Za-z0-9]{8}$/
const KID = /^[0-9a-f]{32}$/
const OF_KEYS: Readonly<Record<string, RegExp>> = {
  'api_key.created.prefix': PREFIX,
  'api_key.created.scopes': /^(gate|work|rooms):(act|read|write)$|^admin$/,
  'api_key.rotated.prefix': PREFIX,
  'api_key.revoked.prefix': PREFIX,
  'agent.intent_key_added.kid': KID,
  'agent.intent_key_removed.kid': KID,
}

/** Whoever does this may say why, for the record. */
const GIVES_REASON = /^(org|agent)\.(stopped|suspended|resumed|archived|unarchived)$/

type Event = { event_type: string; payload: object; reason: string | null; private_user_id: string | null }

let stage: Stage
let events: Event[]
let emails: string[]
/** Mutations whose call did not come to a change: those leave no payload to look at. */
const failed: string[] = []
const plays = new Map<string, Play>()

beforeAll(async () => {
  stage = await Stage.open(await startApp({ MOOTHALL_ORG_CREATE: 'registered' }))
  for (const name of MUTATIONS) {
    const { by, prepare, input, refused } = MUTATION_PLAYS[name]!
    const member = endsSessions(name) ? await stage.world.member({ space: null }) : stage.cast.member
    const play = await stage.play({ others: { member } })
    plays.set(name, play)
    await prepare?.(stage.world, play)
    const client = by === 'nobody' ? stage.world.app.client() : play[by].client
    if (refused) await perform(client, name, refused.input(play))
    if ((await perform(client, name, input?.(play))) !== 'ok') failed.push(name)
  }
  events = await stage.world.sql<Event>(
    'SELECT event_type, payload, reason, private_user_id FROM platform.audit_events',
  )
  emails = (await stage.world.sql<{ email: string }>('SELECT email FROM identity.users WHERE email IS NOT NULL')).map(
    ({ email }) => email,
  )
}, 60_000)
afterAll(() => stage?.world.close())

it('ROOM-8 every text that a mutation takes is planted, so that it would be found', () => {
  const unplanted = MUTATIONS.flatMap((name) => {
    const { input } = MUTATION_PLAYS[name]!
    const slots = slotsOf('Mutation', fieldAt({ type: 'Mutation', field: name }).args)
    const texts = slots.filter(
      ({ type, declared }) => isText(type) && !NOT_WRITTEN.some((known) => known.test(declared)),
    )
    return texts.filter((slot) => !String(valueAt({ input: input?.(plays.get(name)!) }, slot)).includes(WRITTEN))
  })
  expect(unplanted.map(({ declared }) => declared)).toEqual([])
})

it('PLAT-11 every mutation that records something did so', () => {
  expect(failed).toEqual([])
  const expected = new Set(MUTATIONS.flatMap((name) => MUTATION_PLAYS[name]!.facts))
  expect([...expected].filter((type) => !events.some(({ event_type }) => event_type === type))).toEqual([])
})

it('ROOM-8, PLAT-14 no event holds a text that people wrote, a secret or an address', () => {
  const secrets = [WRITTEN, PASSWORD, ...emails, '@', '127.0.0.1', '::1', 'mh_', 'mhs_', 'whsec_', 'ed25519:']
  const telling = events.filter(({ event_type, payload, reason }) => {
    const told = JSON.stringify([payload, GIVES_REASON.test(event_type) ? reason?.replace(WRITTEN, '') : reason])
    return secrets.some((secret) => told.includes(secret))
  })
  expect(telling).toEqual([])
})

it('ROOM-8 a payload holds ids, slugs, numbers and words of a list, nothing else', () => {
  // One word or id: what people write has spaces, capitals and marks, and slugs of this test begin in one way.
  const plain = /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]{3}_[0-9a-z]{26}|\d+|[a-zA-Z_]+|[a-z]+-[0-9a-f]{16})$/
  const odd = events.flatMap(({ event_type, payload }) =>
    stringsOf(payload, event_type)
      .filter(({ at, text }) => !(OF_KEYS[at] ?? plain).test(text))
      .map(({ at, text }) => `${at}: ${text}`),
  )
  expect(odd).toEqual([])
})

it('ROOM-8, ROOM-75 no event tells a card before the reveal', () => {
  const ofVotes = events.filter(({ event_type }) => event_type.startsWith('vote.'))
  expect(ofVotes.length).toBeGreaterThan(1)
  for (const { payload } of ofVotes) {
    expect(Object.keys(payload).toSorted()).toEqual(['roundVersion', 'storyId', 'userId'])
  }
})

const isText = (type: Slot['type']) => getNamedType(type).name === 'String' && !String(type).startsWith('[')

/** Every text of a payload, with its way there: `event.type.field`, an element by its list's. */
function stringsOf(value: unknown, at: string): { at: string; text: string }[] {
  if (typeof value === 'string') return [{ at, text: value }]
  if (Array.isArray(value)) return value.flatMap((each) => stringsOf(each, at))
  return Object.entries(value ?? {}).flatMap(([field, each]) => stringsOf(each, `${at}.${field}`))
}
