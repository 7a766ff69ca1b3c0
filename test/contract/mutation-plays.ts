import { createHash, randomBytes } from 'node:crypto'
import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import { knownProject } from '../support/known-projects.ts'
import { uuidOf, type World } from '../support/world.ts'
import { absentOf } from './planted.ts'
import { withAgent } from './play-agent.ts'
import { withCommitment, withKudos, withMention } from './play-follow-through.ts'
import { intentKeyOf, withIntentKey } from './play-intent-key.ts'
import { nobodyAway, withFeeds } from './play-personal.ts'
import { withRetro } from './play-plugin.ts'
import { withLink } from './play-room-link.ts'
import { dayAhead, withAhead, withSchedule } from './play-schedule.ts'
import { addresseeOf, CODE, freshlySignedIn, linkTokenOf, mailed } from './play-sign-in.ts'
import { whileSpeaking, withComment, withEntries, withStandup } from './play-standup.ts'
import { RECEIVER, withWebhook } from './play-webhook.ts'
import { PASSWORD, type Play } from './stage.ts'

const GUEST_KEY = 'a-browser-0123456789'
const WEEKLY = { weekdays: [1], openTime: '09:30', timezone: 'Europe/Berlin', windowMinutes: 60, enabled: true }

type Person = 'host' | 'steward' | 'deputy' | 'member' | 'newcomer'

/** How a mutation is called so that it changes something, and what it then puts on record. */
export type MutationPlay = {
  /** Who may, of the people of a play. */
  readonly by: Person | 'nobody'
  /** What must be so before. */
  readonly prepare?: (world: World, play: Play) => Promise<unknown>
  readonly input?: (play: Play) => object
  /** Other inputs that are right, for what the first one leaves out. */
  readonly others?: readonly ((play: Play) => object)[]
  /** The facts that the change is, in order (PLAT-11, 13); none where a body's spec calls it liveness. */
  readonly facts: readonly string[]
  /** The same call again: `nothing` when all is so already (ROOM-4), the facts of one more change, or an error's code. */
  readonly again: 'nothing' | { readonly facts: readonly string[] } | { readonly code: string }
  /** A call that is refused although it may be made, with its code and what a refusal puts on record. */
  readonly refused: {
    readonly input: (play: Play) => object
    readonly code: string
    readonly facts?: readonly string[]
  } | null
}

export const fresh = (): string => randomBytes(6).toString('hex')

/** Stands in whatever people may write, so that it is found where it must not be. */
export const WRITTEN = 'zqwritten'
const more = (...facts: string[]) => ({ facts })
const notThere = (field: string, type: string) => ({
  input: () => ({ [field]: absentOf(type) }),
  code: 'NOT_FOUND',
})

const ended = (world: World, { room }: Play) =>
  world.sql(`UPDATE rooms.rooms SET phase = 'done', ended_at = now() WHERE id = $1`, [room.uuid])
const timed = (world: World, { room }: Play) =>
  world.sql(
    `UPDATE rooms.rooms SET timer_started_at = now(), timer_ends_at = now() + interval '1 hour' WHERE id = $1`,
    [room.uuid],
  )
const silent = (world: World, { room }: Play) =>
  world.sql(`UPDATE rooms.rooms SET facilitator_seen_at = now() - interval '2 minutes' WHERE id = $1`, [room.uuid])
/** Somebody's vote in the round on the table. */
export const voted =
  (person: Pick<Actor, 'userId'>) =>
  (world: World, { room }: Play) =>
    world.sql(
      `INSERT INTO rooms.votes (org_id, room_id, story_id, user_id, card, round_version) VALUES ($1, $2, $3, $4, '5', $5)`,
      [room.orgId, room.uuid, uuidOf(room.round.storyId), person.userId, room.round.roundVersion],
    )

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest()
const verifierOf = ({ space }: Play) => sha256(space.slug)
const challengeOf = (play: Play) => sha256(verifierOf(play)).toString('base64url')
/** A meeting client's hand-off of this play, bound to the newcomer or to nobody yet. */
const handedOff = (bound: boolean) => (world: World, play: Play) =>
  world.sql(
    `INSERT INTO identity.embed_handoffs
       (challenge_hash, display_code, provider, client_key, user_id, org_id, bound_at)
     VALUES ($1, '222222', 'meetings', $2, $3, $4, CASE WHEN $3::uuid IS NOT NULL THEN now() END)`,
    [
      sha256(verifierOf(play)),
      play.space.slug,
      bound ? play.newcomer.userId : null,
      bound ? play.newcomer.orgId : null,
    ],
  )
/** All hand-offs are over: one address has ten at most. */
const noneOpen = (world: World) => world.sql('DELETE FROM identity.embed_handoffs')
const linked = (world: World, { newcomer, space }: Play) =>
  world.sql(`UPDATE identity.users SET issuer = 'https://id.example', subject = $2 WHERE id = $1`, [
    newcomer.userId,
    space.slug,
  ])
/** An org of this play, of which all who were ever members of the first one are members too. */
const secondOrg = async (world: World, { space, connectionId }: Play) => {
  await world.sql(
    `INSERT INTO identity.orgs (id, slug, name, api_version) VALUES ($1, 'o' || $2, 'Second', '2026-01-01')`,
    [connectionId, space.slug],
  )
  await world.sql(
    `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at)
     SELECT $1, user_id, 'member', username, now() FROM identity.memberships WHERE org_id = $2`,
    [connectionId, space.orgId],
  )
}

/** Somebody of the org whose membership may change or end. */
const recruited = async (world: World, play: Play) => {
  play.recruit = await world.member({ space: null })
}
/** Leaves the space without an owner who counts. */
const abandoned = async (world: World, { space, steward, deputy }: Play) => {
  const owners = [steward.userId, deputy.userId]
  await world.sql(
    `WITH off AS (UPDATE identity.users SET status = 'disabled' WHERE id = ANY ($1))
     DELETE FROM rooms.space_members WHERE space_id = $2 AND role = 'owner'`,
    [owners, space.uuid],
  )
  await world.sql(`UPDATE identity.users SET status = 'active' WHERE id = ANY ($1)`, [owners])
}

const suspended = async (world: World, play: Play) => {
  await withAgent(world, play)
  await world.sql(`UPDATE identity.agents SET status = 'suspended', status_changed_at = now() WHERE id = $1`, [
    uuidOf(play.agentId),
  ])
}
const withProject = async (_world: World, play: Play) => {
  play.projectId = knownProject(play.host).id
}
/** The next play finds the org as it was. */
const orgIs =
  (set: string) =>
  (world: World, { host }: Play) =>
    world.sql(`UPDATE identity.orgs SET ${set} WHERE id = $1`, [host.orgId])
const tooLong = (input: object) => ({
  input: () => ({ ...input, reason: WRITTEN.repeat(40) }),
  code: 'INVALID_INPUT',
})

/** Whoever calls them has to sign in again afterwards. */
export const endsSessions = (mutation: string): boolean =>
  mutation.startsWith('session') || ['memberLeave', 'viewerErase', 'orgPurge'].includes(mutation)

/** The member at work in an archived org that is theirs, so that the others' goes on; a part of the cast stays. */
async function inOrgToPurge(world: World, play: Play): Promise<void> {
  const { member } = play
  if (member === world.owner || play.castMember === member) return
  const [org] = await world.sql<{ id: string; slug: string }>(
    `INSERT INTO identity.orgs (slug, name, api_version) VALUES ($1, 'Ending', '2026-01-01') RETURNING id, slug`,
    [`ending-${fresh()}`],
  )
  const { id, slug } = org!
  await world.sql(
    `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, 'owner', 'founder', now())`,
    [id, member.userId],
  )
  await world.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [id])
  await world.sql('UPDATE identity.sessions SET org_id = $2 WHERE id = $1', [member.sessionId, id])
  play.endingSlug = slug
}

const config = (deck: object) => ({ poker: { deck, autoReveal: false, openVoting: false } })
const newRoom = (deck: (play: Play) => object) => (play: Play) => ({
  spaceId: play.space.id,
  kind: 'poker',
  title: WRITTEN,
  config: config(deck(play)),
})

const newStandup = (play: Play) => ({
  spaceId: play.space.id,
  kind: 'standup',
  title: WRITTEN,
  config: { standup: { async: true, speakerSeconds: 60 } },
})

/** Every mutation of the schema; a test fails while one is missing. */
export const MUTATION_PLAYS: Readonly<Record<string, MutationPlay>> = {
  orgCreate: {
    by: 'newcomer',
    input: ({ space }) => ({ slug: `o${space.slug}`, name: WRITTEN, allowAnonymous: true }),
    facts: ['org.created'],
    again: { code: 'CONFLICT' },
    refused: { input: () => ({ slug: '-', name: WRITTEN }), code: 'INVALID_INPUT' },
  },
  sessionCreateAnonymous: {
    by: 'nobody',
    input: ({ orgSlug }) => ({ orgSlug, displayName: WRITTEN, delivery: 'BEARER' }),
    facts: ['session.created'],
    again: more('session.created'),
    refused: { input: () => ({ orgSlug: `none-${fresh()}`, displayName: WRITTEN }), code: 'NOT_FOUND' },
  },
  sessionCreateWithPassword: {
    by: 'nobody',
    input: ({ email, orgSlug }) => ({ email, password: PASSWORD, orgSlug, delivery: 'BEARER' }),
    facts: ['session.created'],
    again: more('session.created'),
    // ID-23: the one refusal that is a fact.
    refused: {
      input: ({ email }) => ({ email, password: WRITTEN }),
      code: 'SIGN_IN_FAILED',
      facts: ['auth.sign_in_failed'],
    },
  },
  loginRequest: {
    by: 'nobody',
    // Of nobody: what follows the answer is told in the tests of its own, and would fall between others' digests here.
    input: ({ space }) => ({ email: `${space.slug}@example.org` }),
    facts: [],
    again: 'nothing',
    refused: null,
  },
  sessionCreateWithToken: {
    by: 'nobody',
    prepare: mailed,
    input: (play) => ({ token: linkTokenOf(play), delivery: 'BEARER' }),
    facts: ['session.created'],
    again: { code: 'SIGN_IN_FAILED', ...more('auth.sign_in_failed') },
    refused: { input: () => ({ token: `mh_link_${'0'.repeat(43)}` }), code: 'SIGN_IN_FAILED' },
  },
  sessionCreateWithCode: {
    by: 'nobody',
    prepare: mailed,
    input: (play) => ({ email: addresseeOf(play), code: CODE, delivery: 'BEARER' }),
    facts: ['session.created'],
    again: { code: 'SIGN_IN_FAILED', ...more('auth.sign_in_failed') },
    refused: {
      input: (play) => ({ email: addresseeOf(play), code: '000000' }),
      code: 'SIGN_IN_FAILED',
      facts: ['auth.sign_in_failed'],
    },
  },
  waitlistJoin: {
    by: 'nobody',
    input: ({ space }) => ({ email: `${space.slug}@example.org`, note: WRITTEN }),
    facts: [],
    again: 'nothing',
    refused: { input: () => ({ email: WRITTEN }), code: 'INVALID_INPUT' },
  },
  viewerSetPassword: {
    by: 'newcomer',
    prepare: freshlySignedIn,
    input: () => ({ password: PASSWORD }),
    others: [() => ({ password: PASSWORD, currentPassword: PASSWORD })],
    facts: ['user.password_changed'],
    again: more('user.password_changed'),
    refused: { input: () => ({ password: 'short' }), code: 'INVALID_INPUT' },
  },
  sessionEnd: { by: 'member', facts: ['session.ended'], again: { code: 'UNAUTHENTICATED' }, refused: null },
  sessionEndAll: {
    by: 'member',
    input: () => ({ exceptCurrent: true }),
    facts: ['session.revoked'],
    again: 'nothing',
    refused: null,
  },
  sessionRevoke: {
    by: 'member',
    input: ({ otherSessionId }) => ({ id: otherSessionId }),
    facts: ['session.revoked'],
    again: 'nothing',
    refused: notThere('id', 'Session'),
  },
  sessionSwitchOrg: {
    by: 'member',
    prepare: secondOrg,
    input: ({ connectionId }) => ({ orgId: encodeId('Org', connectionId) }),
    facts: ['session.switched'],
    again: 'nothing',
    refused: notThere('orgId', 'Org'),
  },
  // The session is the fact: a hand-off is the way there, as a mailed token is (PLAT-11).
  embedHandoffStart: {
    by: 'nobody',
    prepare: noneOpen,
    input: (play) => ({ challenge: challengeOf(play), provider: 'meetings' }),
    facts: [],
    again: { code: 'CONFLICT' },
    refused: { input: (play) => ({ challenge: challengeOf(play), provider: 'none' }), code: 'INVALID_INPUT' },
  },
  embedHandoffBind: {
    by: 'newcomer',
    prepare: handedOff(false),
    input: (play) => ({ challenge: challengeOf(play), code: '222222' }),
    facts: [],
    again: { code: 'CONFLICT' },
    refused: {
      input: () => ({ challenge: randomBytes(32).toString('base64url'), code: '222222' }),
      code: 'NOT_FOUND',
    },
  },
  embedHandoffRedeem: {
    by: 'nobody',
    prepare: handedOff(true),
    input: (play) => ({ verifier: verifierOf(play).toString('base64url') }),
    facts: ['session.created'],
    again: { code: 'NOT_FOUND' },
    refused: { input: () => ({ verifier: randomBytes(32).toString('base64url') }), code: 'NOT_FOUND' },
  },
  viewerUnlinkOidc: {
    by: 'newcomer',
    prepare: linked,
    facts: ['user.oidc_unlinked'],
    again: 'nothing',
    refused: null,
  },
  memberInvite: {
    by: 'deputy',
    input: ({ space }) => ({
      email: `${WRITTEN}-${space.slug}@example.org`,
      role: 'ADMIN',
      username: `${WRITTEN}-${space.slug}`,
    }),
    facts: ['member.invited'],
    again: more('member.invited'),
    refused: { input: ({ email }) => ({ email, role: 'MEMBER' }), code: 'CONFLICT' },
  },
  memberUpdate: {
    by: 'deputy',
    prepare: recruited,
    input: ({ space, recruit }) => ({
      userId: recruit?.id,
      role: 'VIEWER',
      username: `${WRITTEN}-${space.slug}`,
    }),
    facts: ['member.updated', 'member.role_changed'],
    again: 'nothing',
    refused: { input: () => ({ userId: absentOf('User'), role: 'VIEWER' }), code: 'NOT_FOUND' },
  },
  memberRevoke: {
    by: 'deputy',
    prepare: recruited,
    input: ({ recruit }) => ({ userId: recruit?.id }),
    facts: ['session.revoked', 'member.revoked'],
    again: 'nothing',
    refused: notThere('userId', 'User'),
  },
  memberLeave: {
    by: 'member',
    facts: ['session.revoked', 'session.revoked', 'member.left', 'space.member_removed', 'room.participant_left'],
    again: { code: 'UNAUTHENTICATED' },
    refused: null,
  },
  viewerErase: {
    by: 'member',
    // Whoever is asked, it is their name that is written.
    prepare: (world) => world.sql('UPDATE identity.users SET display_name = $1', [WRITTEN]),
    input: () => ({ confirm: WRITTEN }),
    facts: ['member.left', 'space.member_removed', 'room.participant_left', 'user.erased'],
    again: { code: 'UNAUTHENTICATED' },
    refused: { input: () => ({ confirm: `not ${WRITTEN}` }), code: 'INVALID_INPUT' },
  },
  orgPurge: {
    by: 'member',
    prepare: inOrgToPurge,
    input: (play) => ({ confirmSlug: play.endingSlug ?? play.orgSlug }),
    facts: ['org.purge_requested'],
    again: { code: 'UNAUTHENTICATED' },
    refused: { input: () => ({ confirmSlug: WRITTEN }), code: 'INVALID_INPUT' },
  },
  viewerUpdate: {
    by: 'newcomer',
    input: ({ space }) => ({ displayName: `${WRITTEN} ${space.slug}`, avatarIcon: WRITTEN, notificationSounds: true }),
    facts: ['user.updated'],
    again: 'nothing',
    refused: { input: () => ({ displayName: `${WRITTEN}\u202e` }), code: 'INVALID_INPUT' },
  },
  webhookCreate: {
    by: 'steward',
    input: ({ space }) => ({ spaceId: space.id, url: `${RECEIVER}/${WRITTEN}`, eventTypes: ['room.*'] }),
    facts: ['webhook.created'],
    again: { code: 'CONFLICT' },
    refused: {
      input: ({ space }) => ({ spaceId: space.id, url: `http://10.0.0.1/${WRITTEN}`, eventTypes: ['*'] }),
      code: 'INVALID_INPUT',
    },
  },
  webhookUpdate: {
    by: 'steward',
    prepare: withWebhook,
    input: ({ webhookId }) => ({
      id: webhookId,
      url: `${RECEIVER}/${WRITTEN}`,
      eventTypes: ['room.*'],
      isActive: false,
    }),
    facts: ['webhook.updated'],
    again: 'nothing',
    refused: notThere('id', 'Webhook'),
  },
  webhookDelete: {
    by: 'steward',
    prepare: withWebhook,
    input: ({ webhookId }) => ({ id: webhookId }),
    facts: ['webhook.deleted'],
    again: { code: 'NOT_FOUND' },
    refused: notThere('id', 'Webhook'),
  },
  webhookRotateSecret: {
    by: 'steward',
    prepare: withWebhook,
    input: ({ webhookId }) => ({ id: webhookId, graceHours: 1 }),
    facts: ['webhook.secret_rotated'],
    again: more('webhook.secret_rotated'),
    refused: notThere('id', 'Webhook'),
  },
  webhookTest: {
    by: 'steward',
    prepare: withWebhook,
    input: ({ webhookId }) => ({ id: webhookId }),
    facts: ['webhook.test'],
    again: more('webhook.test'),
    refused: notThere('id', 'Webhook'),
  },
  webhookDeliveryRedeliver: {
    by: 'steward',
    prepare: withWebhook,
    input: ({ deliveryId }) => ({ id: deliveryId }),
    facts: ['webhook_delivery.redelivered'],
    again: { code: 'CONFLICT' },
    refused: notThere('id', 'WebhookDelivery'),
  },
  spaceCreate: {
    by: 'newcomer',
    input: ({ space }) => ({ slug: `n${space.slug}`, name: WRITTEN, passcode: WRITTEN }),
    facts: ['space.created'],
    again: { code: 'CONFLICT' },
    refused: { input: ({ space }) => ({ slug: space.slug, name: WRITTEN }), code: 'CONFLICT' },
  },
  spaceUpdate: {
    by: 'steward',
    input: ({ space }) => ({ id: space.id, slug: `u${space.slug}`, name: WRITTEN, passcode: WRITTEN }),
    facts: ['space.updated'],
    again: 'nothing',
    refused: { input: ({ space }) => ({ id: space.id, name: WRITTEN, slug: 'A b' }), code: 'INVALID_INPUT' },
  },
  spaceJoin: {
    by: 'newcomer',
    input: ({ space }) => ({ slug: space.slug, passcode: '' }),
    facts: ['space.member_joined'],
    again: 'nothing',
    refused: { input: () => ({ slug: `none-${fresh()}`, passcode: WRITTEN }), code: 'NOT_FOUND' },
  },
  spaceLeave: {
    by: 'member',
    input: ({ space }) => ({ id: space.id }),
    facts: ['space.member_left', 'room.participant_left'],
    again: { code: 'NOT_FOUND' },
    refused: notThere('id', 'Space'),
  },
  // ROOM-180: liveness.
  spaceSeen: {
    by: 'member',
    input: ({ space }) => ({ id: space.id }),
    facts: [],
    again: 'nothing',
    refused: notThere('id', 'Space'),
  },
  spaceArchive: {
    by: 'deputy',
    input: ({ space }) => ({ id: space.id }),
    facts: ['space.archived'],
    again: 'nothing',
    refused: notThere('id', 'Space'),
  },
  spaceUnarchive: {
    by: 'deputy',
    prepare: (world, { space }) => world.sql('UPDATE rooms.spaces SET archived_at = now() WHERE id = $1', [space.uuid]),
    input: ({ space }) => ({ id: space.id }),
    facts: ['space.unarchived'],
    again: 'nothing',
    refused: notThere('id', 'Space'),
  },
  spaceClaim: {
    by: 'deputy',
    prepare: abandoned,
    input: ({ space }) => ({ id: space.id }),
    facts: ['space.claimed'],
    again: { code: 'FORBIDDEN' },
    refused: notThere('id', 'Space'),
  },
  spaceAddOwner: {
    by: 'deputy',
    input: ({ space, member }) => ({ id: space.id, userId: member.id }),
    facts: ['space.owner_added'],
    again: 'nothing',
    refused: { input: ({ space, newcomer }) => ({ id: space.id, userId: newcomer.id }), code: 'NOT_FOUND' },
  },
  spaceDelete: {
    by: 'steward',
    input: ({ space }) => ({ id: space.id, confirmSlug: space.slug }),
    facts: ['space.deleted'],
    again: { code: 'NOT_FOUND' },
    refused: { input: ({ space }) => ({ id: space.id, confirmSlug: WRITTEN }), code: 'INVALID_INPUT' },
  },
  spaceMemberAdd: {
    by: 'steward',
    input: ({ space, newcomer }) => ({ id: space.id, userId: newcomer.id, spectator: false }),
    facts: ['space.member_added'],
    again: 'nothing',
    refused: { input: ({ space }) => ({ id: space.id, userId: absentOf('User') }), code: 'NOT_FOUND' },
  },
  spaceMemberRoleSet: {
    by: 'steward',
    input: ({ space, member }) => ({ id: space.id, userId: member.id, role: 'OWNER' }),
    facts: ['space.member_role_set'],
    again: 'nothing',
    refused: {
      input: ({ space, newcomer }) => ({ id: space.id, userId: newcomer.id, role: 'OWNER' }),
      code: 'NOT_FOUND',
    },
  },
  spaceMemberRemove: {
    by: 'steward',
    input: ({ space, member }) => ({ id: space.id, userId: member.id }),
    facts: ['space.member_removed', 'room.participant_left'],
    again: { code: 'NOT_FOUND' },
    refused: { input: ({ space, newcomer }) => ({ id: space.id, userId: newcomer.id }), code: 'NOT_FOUND' },
  },
  // A vote is withdrawn with it (ROOM-21): two facts.
  spaceSpectatorSet: {
    by: 'member',
    prepare: (world, play) => voted(play.member)(world, play),
    input: ({ space }) => ({ id: space.id, spectator: true }),
    others: [({ space, member }) => ({ id: space.id, spectator: true, userId: member.id })],
    facts: ['vote.cleared', 'space.spectator_set'],
    again: 'nothing',
    refused: { input: ({ space, host }) => ({ id: space.id, spectator: true, userId: host.id }), code: 'FORBIDDEN' },
  },
  standupScheduleSet: {
    by: 'steward',
    input: ({ space }) => ({ spaceId: space.id, ...WEEKLY }),
    others: [({ space }) => ({ spaceId: space.id, ...WEEKLY, enabled: false })],
    facts: ['standup.schedule_saved'],
    again: 'nothing',
    refused: { input: ({ space }) => ({ spaceId: space.id, ...WEEKLY, timezone: '+02:00' }), code: 'INVALID_INPUT' },
  },
  standupAheadPut: {
    by: 'member',
    prepare: withSchedule,
    input: ({ scheduleId }) => ({ scheduleId, day: dayAhead(), yesterday: WRITTEN, today: WRITTEN, blockers: WRITTEN }),
    facts: ['standup.ahead_saved'],
    again: 'nothing',
    refused: { input: ({ scheduleId }) => ({ scheduleId, day: '2026-01-01', today: 'Write' }), code: 'INVALID_INPUT' },
  },
  standupAheadDelete: {
    by: 'member',
    prepare: withAhead,
    input: ({ scheduleId }) => ({ scheduleId, day: dayAhead() }),
    facts: ['standup.ahead_saved'],
    again: 'nothing',
    refused: { input: () => ({ scheduleId: absentOf('StandupSchedule'), day: dayAhead() }), code: 'NOT_FOUND' },
  },
  awayAdd: {
    by: 'member',
    prepare: nobodyAway,
    input: () => ({ startsOn: '2026-07-03', endsOn: '2026-07-05' }),
    facts: ['standup.away_saved'],
    again: 'nothing',
    refused: { input: () => ({ startsOn: '2026-07-05', endsOn: '2026-07-03' }), code: 'INVALID_INPUT' },
  },
  awayDelete: {
    by: 'member',
    input: ({ awayRangeId }) => ({ id: awayRangeId }),
    facts: ['standup.away_saved'],
    again: { code: 'NOT_FOUND' },
    refused: notThere('id', 'AwayRange'),
  },
  calendarFeedMint: {
    by: 'member',
    input: () => ({ remindMinutes: 10 }),
    facts: ['calendar_feed.minted'],
    again: more('calendar_feed.minted'),
    refused: { input: () => ({ remindMinutes: 1_441 }), code: 'INVALID_INPUT' },
  },
  calendarFeedUpdate: {
    by: 'member',
    prepare: withFeeds,
    input: () => ({ remindMinutes: 10 }),
    facts: ['calendar_feed.updated'],
    again: 'nothing',
    refused: { input: () => ({ remindMinutes: -1 }), code: 'INVALID_INPUT' },
  },
  calendarFeedRevoke: {
    by: 'member',
    prepare: withFeeds,
    facts: ['calendar_feed.revoked'],
    again: 'nothing',
    refused: null,
  },
  deckCreate: {
    by: 'member',
    input: ({ space }) => ({ spaceId: space.id, name: WRITTEN, cards: [WRITTEN, '2'], ordinal: true }),
    facts: ['deck.created'],
    again: { code: 'CONFLICT' },
    refused: {
      input: ({ space }) => ({ spaceId: space.id, name: WRITTEN, cards: [WRITTEN, '2'] }),
      code: 'INVALID_INPUT',
    },
  },
  deckUpdate: {
    by: 'member',
    input: ({ deckId }) => ({ id: deckId, name: WRITTEN, cards: [WRITTEN, '2'], ordinal: true }),
    facts: ['deck.updated'],
    again: 'nothing',
    refused: { input: ({ deckId }) => ({ id: deckId, name: WRITTEN, cards: [WRITTEN] }), code: 'INVALID_INPUT' },
  },
  deckDelete: {
    by: 'member',
    input: ({ deckId }) => ({ id: deckId }),
    facts: ['deck.deleted'],
    again: { code: 'NOT_FOUND' },
    refused: notThere('id', 'Deck'),
  },
  roomCreate: {
    by: 'host',
    input: newRoom(() => ({ cards: { name: WRITTEN, cards: ['1', '2'], ordinal: false } })),
    others: [newRoom(({ deckId }) => ({ id: deckId })), newRoom(() => ({ preset: 'FIBONACCI' })), newStandup],
    facts: ['room.created'],
    again: more('room.created'),
    refused: { input: newRoom(() => ({ id: absentOf('Deck') })), code: 'NOT_FOUND' },
  },
  roomAct: {
    by: 'member',
    prepare: withRetro,
    input: ({ room }) => ({ roomId: room.id, action: 'draft', input: { text: WRITTEN } }),
    facts: ['room.acted'],
    again: more('room.acted'),
    refused: { input: ({ room }) => ({ roomId: room.id, action: 'draft', input: { text: 1 } }), code: 'INVALID_INPUT' },
  },
  roomRename: {
    by: 'host',
    input: ({ room }) => ({ roomId: room.id, title: WRITTEN }),
    facts: ['room.updated'],
    again: 'nothing',
    refused: { input: () => ({ roomId: absentOf('Room'), title: WRITTEN }), code: 'NOT_FOUND' },
  },
  roomEnd: {
    by: 'host',
    prepare: timed,
    input: ({ room }) => ({ roomId: room.id }),
    facts: ['room.ended'],
    again: 'nothing',
    refused: notThere('roomId', 'Room'),
  },
  roomReopen: {
    by: 'host',
    prepare: ended,
    input: ({ room }) => ({ roomId: room.id }),
    facts: ['room.reopened'],
    again: 'nothing',
    refused: notThere('roomId', 'Room'),
  },
  roomDelete: {
    by: 'host',
    input: ({ room }) => ({ id: room.id }),
    facts: ['room.deleted'],
    again: { code: 'NOT_FOUND' },
    refused: notThere('id', 'Room'),
  },
  // ROOM-180: liveness, for whoever took part already.
  roomHeartbeat: {
    by: 'member',
    input: ({ room, connectionId }) => ({ roomId: room.id, connectionId }),
    facts: [],
    again: 'nothing',
    refused: { input: () => ({ roomId: absentOf('Room'), connectionId: newId() }), code: 'NOT_FOUND' },
  },
  roomLeave: {
    by: 'member',
    input: ({ room, connectionId }) => ({ roomId: room.id, connectionId }),
    facts: [],
    again: 'nothing',
    refused: { input: () => ({ roomId: absentOf('Room'), connectionId: newId() }), code: 'NOT_FOUND' },
  },
  roomFacilitatorClaim: {
    by: 'member',
    prepare: silent,
    input: ({ room }) => ({ roomId: room.id }),
    facts: ['room.facilitator_changed'],
    again: 'nothing',
    refused: notThere('roomId', 'Room'),
  },
  roomFacilitatorHandOver: {
    by: 'host',
    input: ({ room, member }) => ({ roomId: room.id, userId: member.id }),
    facts: ['room.facilitator_changed'],
    again: { code: 'FORBIDDEN' },
    refused: { input: ({ room, newcomer }) => ({ roomId: room.id, userId: newcomer.id }), code: 'NOT_FOUND' },
  },
  roomCofacilitatorSet: {
    by: 'host',
    input: ({ room, member }) => ({ roomId: room.id, userId: member.id, on: true }),
    facts: ['room.cofacilitator_set'],
    again: 'nothing',
    refused: { input: ({ room, steward }) => ({ roomId: room.id, userId: steward.id, on: true }), code: 'NOT_FOUND' },
  },
  roomConfigSet: {
    by: 'host',
    input: ({ room }) => ({ roomId: room.id, change: { autoReveal: true } }),
    others: [({ room }) => ({ roomId: room.id, change: { openVoting: true } })],
    facts: ['room.config_set'],
    again: 'nothing',
    refused: { input: () => ({ roomId: absentOf('Room'), change: { autoReveal: true } }), code: 'NOT_FOUND' },
  },
  roomSelect: {
    by: 'host',
    input: ({ room, stories }) => ({ roomId: room.id, storyId: stories[1] }),
    facts: ['round.opened'],
    again: 'nothing',
    refused: { input: ({ room }) => ({ roomId: room.id, storyId: absentOf('Story') }), code: 'NOT_FOUND' },
  },
  roomQuickVote: {
    by: 'host',
    input: ({ room }) => ({ roomId: room.id }),
    facts: ['story.added', 'round.opened'],
    again: more('story.added', 'round.opened'),
    refused: notThere('roomId', 'Room'),
  },
  // ROOM-65: a new round also when there were no votes.
  roomReset: {
    by: 'host',
    input: ({ room }) => ({ roomId: room.id }),
    facts: ['round.reset'],
    again: more('round.reset'),
    refused: notThere('roomId', 'Room'),
  },
  roomReveal: {
    by: 'host',
    input: ({ room }) => ({ roomId: room.id, roundVersion: room.round.roundVersion }),
    facts: ['round.revealed'],
    again: 'nothing',
    refused: { input: ({ room }) => ({ roomId: room.id, roundVersion: '999' }), code: 'ROUND_CLOSED' },
  },
  // ROOM-80: one that runs is replaced.
  roomTimerStart: {
    by: 'host',
    input: ({ room }) => ({ roomId: room.id, seconds: 60, onEnd: 'NONE' }),
    facts: ['room.timer_set'],
    again: more('room.timer_set'),
    refused: { input: ({ room }) => ({ roomId: room.id, seconds: 9 }), code: 'INVALID_INPUT' },
  },
  roomTimerExtend: {
    by: 'host',
    prepare: timed,
    input: ({ room }) => ({ roomId: room.id, seconds: 60 }),
    facts: ['room.timer_set'],
    again: more('room.timer_set'),
    refused: { input: ({ room }) => ({ roomId: room.id, seconds: 601 }), code: 'INVALID_INPUT' },
  },
  roomTimerStop: {
    by: 'host',
    prepare: timed,
    input: ({ room }) => ({ roomId: room.id }),
    facts: ['room.timer_set'],
    again: 'nothing',
    refused: notThere('roomId', 'Room'),
  },
  storyAdd: {
    by: 'member',
    input: ({ room }) => ({ roomId: room.id, title: WRITTEN, notes: WRITTEN, ref: WRITTEN }),
    facts: ['story.added'],
    again: more('story.added'),
    refused: { input: ({ room }) => ({ roomId: room.id, notes: WRITTEN }), code: 'INVALID_INPUT' },
  },
  storyImport: {
    by: 'host',
    input: ({ room }) => ({ roomId: room.id, csv: `title,ref\n${WRITTEN},${WRITTEN}` }),
    facts: ['story.imported'],
    again: 'nothing',
    refused: { input: ({ room }) => ({ roomId: room.id, csv: `title,estimate\n${WRITTEN},?` }), code: 'INVALID_INPUT' },
  },
  storyUpdate: {
    by: 'host',
    input: ({ stories }) => ({ id: stories[0], title: WRITTEN, notes: WRITTEN, ref: WRITTEN }),
    facts: ['story.updated'],
    again: 'nothing',
    refused: { input: ({ stories }) => ({ id: stories[0], title: '', ref: '' }), code: 'INVALID_INPUT' },
  },
  storyMove: {
    by: 'host',
    input: ({ stories }) => ({ id: stories[0], afterId: stories[1] }),
    facts: ['story.moved'],
    again: 'nothing',
    refused: { input: ({ stories }) => ({ id: stories[0], afterId: absentOf('Story') }), code: 'NOT_FOUND' },
  },
  storyDelete: {
    by: 'host',
    input: ({ stories }) => ({ id: stories[1] }),
    facts: ['story.deleted'],
    again: { code: 'NOT_FOUND' },
    refused: notThere('id', 'Story'),
  },
  storyEstimate: {
    by: 'host',
    input: ({ stories }) => ({ id: stories[0], estimate: '5' }),
    others: [({ stories }) => ({ id: stories[0], estimate: '5', toTicket: false })],
    facts: ['story.estimated'],
    again: 'nothing',
    refused: { input: ({ stories }) => ({ id: stories[0], estimate: '?' }), code: 'INVALID_INPUT' },
  },
  roomLinkMint: {
    by: 'host',
    input: ({ room }) => ({ roomId: room.id }),
    facts: ['room_link.minted'],
    again: more('room_link.minted'),
    refused: notThere('roomId', 'Room'),
  },
  roomLinkRevoke: {
    by: 'host',
    prepare: withLink,
    input: ({ link }) => ({ id: link.id }),
    facts: ['room_link.revoked'],
    again: 'nothing',
    refused: notThere('id', 'RoomLink'),
  },
  // The same browser again is a further session of the same guest (ROOM-152).
  roomLinkRedeem: {
    by: 'nobody',
    prepare: withLink,
    input: ({ link }) => ({ token: link.token, displayName: WRITTEN, guestKey: GUEST_KEY, delivery: 'BEARER' }),
    facts: ['session.created', 'room_link.redeemed'],
    again: more('session.created'),
    refused: {
      input: () => ({ token: fresh(), displayName: WRITTEN, guestKey: GUEST_KEY, delivery: 'BEARER' }),
      code: 'NOT_FOUND',
    },
  },
  commitmentAdd: {
    by: 'member',
    prepare: withStandup,
    input: ({ room }) => ({ roomId: room.id, text: WRITTEN }),
    facts: ['commitment.added'],
    again: { facts: ['commitment.added'] },
    refused: { input: ({ room }) => ({ roomId: room.id, text: ' ' }), code: 'INVALID_INPUT' },
  },
  commitmentAnswer: {
    by: 'member',
    prepare: withCommitment,
    input: ({ room, commitmentId }) => ({ id: commitmentId, roomId: room.id, answer: 'NOT_YET' }),
    others: [({ room, commitmentId }) => ({ id: commitmentId, roomId: room.id, answer: 'LANDED' })],
    facts: ['commitment.carried'],
    again: 'nothing',
    refused: {
      input: ({ room }) => ({ id: absentOf('Commitment'), roomId: room.id, answer: 'LANDED' }),
      code: 'NOT_FOUND',
    },
  },
  mentionAdd: {
    by: 'member',
    prepare: withStandup,
    input: ({ room, steward }) => ({ roomId: room.id, userId: steward.id }),
    facts: ['standup.mentioned'],
    again: 'nothing',
    refused: { input: ({ room, newcomer }) => ({ roomId: room.id, userId: newcomer.id }), code: 'NOT_FOUND' },
  },
  mentionRemove: {
    by: 'member',
    prepare: withMention,
    input: ({ room, steward }) => ({ roomId: room.id, userId: steward.id }),
    facts: ['standup.mentioned'],
    again: 'nothing',
    refused: { input: ({ steward }) => ({ roomId: absentOf('Room'), userId: steward.id }), code: 'NOT_FOUND' },
  },
  kudosGive: {
    by: 'member',
    input: ({ space, steward }) => ({ spaceId: space.id, userId: steward.id, text: WRITTEN }),
    others: [({ space, room, steward }) => ({ spaceId: space.id, userId: steward.id, text: WRITTEN, roomId: room.id })],
    facts: ['kudos.given'],
    again: { facts: ['kudos.given'] },
    refused: {
      input: ({ space, newcomer }) => ({ spaceId: space.id, userId: newcomer.id, text: WRITTEN }),
      code: 'NOT_FOUND',
    },
  },
  kudosDelete: {
    by: 'member',
    prepare: withKudos,
    input: ({ kudosId }) => ({ id: kudosId }),
    facts: ['kudos.deleted'],
    again: { code: 'NOT_FOUND' },
    refused: notThere('id', 'Kudos'),
  },
  standupEntryPut: {
    by: 'member',
    prepare: withStandup,
    input: ({ room }) => ({ roomId: room.id, yesterday: WRITTEN, today: WRITTEN, blockers: WRITTEN }),
    facts: ['standup.entry_saved'],
    again: 'nothing',
    refused: { input: ({ room }) => ({ roomId: room.id, today: WRITTEN.repeat(300) }), code: 'INVALID_INPUT' },
  },
  standupReadySet: {
    by: 'member',
    prepare: withStandup,
    input: ({ room }) => ({ roomId: room.id, ready: true }),
    facts: ['standup.ready_set'],
    again: 'nothing',
    refused: { input: () => ({ roomId: absentOf('Room'), ready: true }), code: 'NOT_FOUND' },
  },
  standupStart: {
    by: 'host',
    prepare: withStandup,
    input: ({ room }) => ({ roomId: room.id, order: 'JOINED' }),
    others: [({ room }) => ({ roomId: room.id, order: 'SHUFFLED' })],
    facts: ['standup.started'],
    again: { code: 'WRONG_PHASE' },
    refused: { input: () => ({ roomId: absentOf('Room'), order: 'JOINED' }), code: 'NOT_FOUND' },
  },
  standupNext: {
    by: 'member',
    prepare: whileSpeaking,
    input: ({ room, castMember }) => ({ roomId: room.id, expectedSpeakerId: castMember.id }),
    facts: ['standup.speaker_changed'],
    again: { code: 'CONFLICT' },
    refused: { input: ({ room, host }) => ({ roomId: room.id, expectedSpeakerId: host.id }), code: 'CONFLICT' },
  },
  standupSkip: {
    by: 'host',
    prepare: whileSpeaking,
    input: ({ room, castMember }) => ({ roomId: room.id, userId: castMember.id, skipped: true }),
    others: [({ room, castMember }) => ({ roomId: room.id, userId: castMember.id, skipped: false })],
    facts: ['standup.speaker_skipped', 'standup.speaker_changed'],
    again: 'nothing',
    refused: {
      input: () => ({ roomId: absentOf('Room'), userId: absentOf('User'), skipped: true }),
      code: 'NOT_FOUND',
    },
  },
  standupOrderSet: {
    by: 'host',
    prepare: whileSpeaking,
    input: ({ room, deputy }) => ({ roomId: room.id, userIds: [deputy.id] }),
    facts: ['standup.order_set'],
    again: 'nothing',
    refused: { input: ({ room }) => ({ roomId: room.id, userIds: [absentOf('User')] }), code: 'NOT_FOUND' },
  },
  standupGather: {
    by: 'host',
    prepare: whileSpeaking,
    input: ({ room }) => ({ roomId: room.id }),
    facts: ['standup.gathered'],
    again: 'nothing',
    refused: notThere('roomId', 'Room'),
  },
  standupEntryComment: {
    by: 'member',
    prepare: withEntries,
    input: ({ room, host }) => ({ roomId: room.id, entryUserId: host.id, text: WRITTEN }),
    facts: ['standup.entry_commented'],
    again: more('standup.entry_commented'),
    refused: {
      input: ({ room }) => ({ roomId: room.id, entryUserId: absentOf('User'), text: WRITTEN }),
      code: 'NOT_FOUND',
    },
  },
  standupEntryCommentDelete: {
    by: 'member',
    prepare: withComment,
    input: ({ commentId }) => ({ id: commentId }),
    facts: ['standup.entry_commented'],
    again: { code: 'NOT_FOUND' },
    refused: notThere('id', 'StandupEntryComment'),
  },
  standupEntryReact: {
    by: 'member',
    prepare: withEntries,
    input: ({ room, host }) => ({ roomId: room.id, entryUserId: host.id, emoji: '🎉' }),
    facts: ['standup.entry_reacted'],
    again: more('standup.entry_reacted'),
    refused: {
      input: ({ room, host }) => ({ roomId: room.id, entryUserId: host.id, emoji: '?' }),
      code: 'INVALID_INPUT',
    },
  },
  voteCast: {
    by: 'member',
    input: ({ room }) => ({ roomId: room.id, ...room.round, card: '5' }),
    facts: ['vote.cast'],
    again: 'nothing',
    refused: { input: ({ room }) => ({ roomId: room.id, ...room.round, card: WRITTEN }), code: 'INVALID_INPUT' },
  },
  voteClear: {
    by: 'member',
    prepare: (world, play) => voted(play.member)(world, play),
    input: ({ room }) => ({ roomId: room.id, ...room.round }),
    facts: ['vote.cleared'],
    again: 'nothing',
    refused: { input: ({ room }) => ({ roomId: room.id, ...room.round, roundVersion: '999' }), code: 'ROUND_CLOSED' },
  },
  orgUpdate: {
    by: 'deputy',
    input: ({ orgSlug }) => ({
      name: WRITTEN,
      slug: orgSlug,
      timeZone: 'Europe/Berlin',
      retentionDays: 30,
      allowAnonymous: true,
      settings: { note: WRITTEN },
    }),
    facts: ['org.updated'],
    again: 'nothing',
    refused: { input: () => ({ name: WRITTEN, timeZone: 'Nowhere' }), code: 'INVALID_INPUT' },
  },
  orgStop: {
    by: 'deputy',
    input: () => ({ reason: WRITTEN }),
    facts: ['org.stopped'],
    again: 'nothing',
    refused: tooLong({}),
  },
  orgResume: {
    by: 'deputy',
    prepare: orgIs('stopped_at = now()'),
    input: () => ({ reason: WRITTEN }),
    facts: ['org.resumed'],
    again: 'nothing',
    refused: tooLong({}),
  },
  orgArchive: {
    by: 'deputy',
    input: () => ({ reason: WRITTEN }),
    facts: ['org.archived'],
    again: 'nothing',
    refused: tooLong({}),
  },
  orgUnarchive: {
    by: 'deputy',
    prepare: orgIs(`status = 'archived', archived_at = now()`),
    input: () => ({ reason: WRITTEN }),
    facts: ['org.unarchived'],
    again: 'nothing',
    refused: tooLong({}),
  },
  agentCreate: {
    by: 'deputy',
    prepare: withProject,
    input: ({ space, projectId }) => ({
      name: space.slug,
      mode: 'WRITE',
      projectScope: 'LISTED',
      projectIds: [projectId],
      labels: [{ name: WRITTEN, value: WRITTEN }],
    }),
    facts: ['agent.created'],
    again: { code: 'CONFLICT' },
    refused: { input: () => ({ name: 'console' }), code: 'INVALID_INPUT' },
  },
  agentUpdate: {
    by: 'deputy',
    prepare: withAgent,
    input: ({ agentId }) => ({
      id: agentId,
      mode: 'WRITE',
      canEditGlobalWiki: true,
      rateLimitPerMinute: 60,
      labels: [{ name: WRITTEN, value: WRITTEN }],
      intentMode: 'OPTIONAL',
      budgets: [],
    }),
    facts: ['agent.updated'],
    again: 'nothing',
    refused: notThere('id', 'Agent'),
  },
  agentSuspend: {
    by: 'deputy',
    prepare: withAgent,
    input: ({ agentId }) => ({ id: agentId, reason: WRITTEN }),
    facts: ['agent.suspended'],
    again: 'nothing',
    refused: notThere('id', 'Agent'),
  },
  agentStop: {
    by: 'deputy',
    prepare: withAgent,
    input: ({ agentId }) => ({ id: agentId, reason: WRITTEN }),
    facts: ['agent.stopped'],
    again: 'nothing',
    refused: notThere('id', 'Agent'),
  },
  agentResume: {
    by: 'deputy',
    prepare: suspended,
    input: ({ agentId }) => ({ id: agentId, reason: WRITTEN }),
    facts: ['agent.resumed'],
    again: 'nothing',
    refused: notThere('id', 'Agent'),
  },
  agentSetProjects: {
    by: 'deputy',
    prepare: async (world, play) => {
      await withAgent(world, play)
      await withProject(world, play)
    },
    input: ({ agentId, projectId }) => ({ id: agentId, scope: 'LISTED', projectIds: [projectId] }),
    facts: ['agent.projects_changed'],
    again: 'nothing',
    refused: {
      input: ({ agentId }) => ({ id: agentId, scope: 'LISTED', projectIds: [absentOf('Project')] }),
      code: 'NOT_FOUND',
    },
  },
  agentAddIntentKey: {
    by: 'deputy',
    prepare: withAgent,
    input: (play) => ({ id: play.agentId, publicKey: intentKeyOf(play).publicKey }),
    facts: ['agent.intent_key_added'],
    again: { code: 'CONFLICT' },
    refused: {
      input: ({ agentId }) => ({ id: agentId, publicKey: `ed25519:${'A'.repeat(43)}` }),
      code: 'INVALID_INPUT',
    },
  },
  agentRemoveIntentKey: {
    by: 'deputy',
    prepare: withIntentKey,
    input: (play) => ({ id: play.agentId, kid: intentKeyOf(play).kid }),
    facts: ['agent.intent_key_removed'],
    again: { code: 'NOT_FOUND' },
    refused: { input: ({ agentId }) => ({ id: agentId, kid: WRITTEN }), code: 'NOT_FOUND' },
  },
  apiKeyCreate: {
    by: 'deputy',
    prepare: withAgent,
    input: ({ agentId }) => ({ agentId, name: WRITTEN, scopes: ['ROOMS_READ'] }),
    others: [() => ({ admin: true, name: fresh(), mode: 'TEST', expiresAt: '2999-01-01T00:00:00Z' })],
    facts: ['api_key.created'],
    again: { code: 'CONFLICT' },
    refused: {
      input: () => ({ agentId: absentOf('Agent'), name: WRITTEN, scopes: ['ROOMS_READ'] }),
      code: 'NOT_FOUND',
    },
  },
  apiKeyRotate: {
    by: 'deputy',
    prepare: withAgent,
    input: ({ keyId }) => ({ id: keyId, graceMinutes: 5 }),
    facts: ['api_key.rotated'],
    again: { code: 'CONFLICT' },
    refused: notThere('id', 'ApiKey'),
  },
  apiKeyRevoke: {
    by: 'deputy',
    prepare: withAgent,
    input: ({ keyId }) => ({ id: keyId }),
    facts: ['api_key.revoked'],
    again: 'nothing',
    refused: notThere('id', 'ApiKey'),
  },
}
