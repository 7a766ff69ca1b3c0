import { randomBytes } from 'node:crypto'
import { encodeId } from '../../src/graphql/ids.ts'
import { carryOutPurges } from '../../src/identity/org/carry-out-purges.ts'
import { hashPassword } from '../../src/identity/session/password.ts'
import { newSessionToken } from '../../src/identity/session/token.ts'
import { newId } from '../../src/lib/type-id.ts'
import { Actor, type TestRoom } from '../support/actor.ts'
import type { App } from '../support/app.ts'
import { createWorld, FIBONACCI, type TestSpace, type World } from '../support/world.ts'
import { absentOf } from './planted.ts'
import { awayRangeOf } from './play-personal.ts'

export const PASSWORD = 'correct horse battery'

/** People who appear in every play. */
export type Cast = {
  /** Leads the room. */
  host: Actor
  /** Owns the space. */
  steward: Actor
  /** Owns the space too, and hosts beside the host: what they may not do, their kind of session may not. */
  deputy: Actor
  member: Actor
  /** Of the org, not of the space. */
  newcomer: Actor
  /** The newcomer's, whose password is `PASSWORD`. */
  email: string
  orgSlug: string
}

/** A space with a poker room of three stories, the first on the table, in which nothing has happened yet. */
export type Play = Cast & {
  space: TestSpace
  room: TestRoom
  stories: [string, string, string]
  deckId: string
  /** The member's connection. */
  connectionId: string
  /** The member's comment in a standup, where `withComment` made it; else the id of nothing. */
  commentId: string
  /** Another session of whoever acts. */
  otherSessionId: string
  /** Days on which whoever acts is away. */
  awayRangeId: string
  /** The space's schedule, where `withSchedule` made it; else the id of nothing. */
  scheduleId: string
  /** The member's commitment and kudos, where `withCommitment` and `withKudos` made them; else ids of nothing. */
  commitmentId: string
  kudosId: string
  /** A link of the room, where `withLink` made it; else one that is not there. */
  link: { id: string; token: string }
  /** An agent and its key, where `withAgent` made them; else ids of nothing. */
  agentId: string
  keyId: string
  /** The space's endpoint and a delivery to it, where `withWebhook` made them; else ids of nothing. */
  webhookId: string
  deliveryId: string
  /** Somebody of the org whose membership may change or end, where one was made. */
  recruit?: Actor
  /** The cast's own member: others may stand in for them. */
  castMember: Actor
  /** The slug of the org that is to end, where one was made. */
  endingSlug?: string
  /** A project, where it was made known. */
  projectId?: string
}

export class Stage {
  readonly world: World
  readonly cast: Cast
  /** Somebody's space in the same org, and somebody of another org. */
  readonly elsewhere: { sameOrg: Play; otherOrg: Actor & { space: TestSpace } }

  private constructor(world: World, cast: Cast, elsewhere: Stage['elsewhere']) {
    this.world = world
    this.cast = cast
    this.elsewhere = elsewhere
  }

  static async open(app: App): Promise<Stage> {
    const world = await createWorld(app)
    const person = () => world.member({ space: null })
    const [host, steward, member, newcomer] = [await person(), await person(), await person(), await person()]
    const deputy = await world.member({ role: 'owner', space: null })
    const email = `${randomBytes(6).toString('hex')}@example.org`
    const cast = { host, steward, deputy, member, newcomer, email, orgSlug: world.org.slug }
    const other = await world.outsider()
    const others = { ...cast, host: other, steward: other, deputy: other, member: other }
    const sameOrg = await makePlay(world, others, [], other)
    const stage = new Stage(world, cast, { sameOrg, otherOrg: await world.otherOrg() })
    await stage.#admitNewcomer()
    return stage
  }

  /** Whoever has left or was erased is back with another session, in the plays that come too. */
  async comeBack(person: Actor, method?: 'password' | 'anonymous'): Promise<Actor> {
    const { userId } = person
    await this.world.sql('UPDATE identity.memberships SET revoked_at = NULL, revoked_by = NULL WHERE user_id = $1', [
      userId,
    ])
    await this.world.sql(`UPDATE identity.users SET status = 'active' WHERE id = $1 AND status = 'erased'`, [userId])
    const back = await this.world.signIn(person, method)
    this.recast(person, back)
    if (back === this.cast.newcomer) await this.#admitNewcomer()
    return back
  }

  /** The same person by another session plays on. */
  recast(before: Actor, after: Actor): void {
    for (const part of ['host', 'steward', 'deputy', 'member', 'newcomer'] as const) {
      if (this.cast[part] === before) this.cast[part] = after
    }
  }

  async #admitNewcomer(): Promise<void> {
    const { newcomer, email } = this.cast
    await this.world.sql('UPDATE identity.users SET email = $2, password_hash = $3 WHERE id = $1', [
      newcomer.userId,
      email,
      await hashPassword(PASSWORD),
    ])
  }

  /** The same person in the same way, by a session of its own: one that may be ended. */
  async anew(person: Actor): Promise<Actor> {
    const sessionId = newId()
    const { token, hash } = newSessionToken()
    await this.world.sql(
      `INSERT INTO identity.sessions (id, org_id, user_id, token_hash, method, embedded, room_id, link_id, expires_at)
       SELECT $2, org_id, user_id, $3, method, embedded, room_id, link_id, expires_at
       FROM identity.sessions WHERE id = $1`,
      [person.sessionId, sessionId, hash],
    )
    return new Actor({ ...person, sessionId }, this.world.app.client(token))
  }

  /** A play of its own. `also` are members too, `others` take a part in it, `actor` is whose other session there is. */
  async play({
    also = [],
    others = {},
    actor,
  }: {
    also?: readonly Actor[]
    others?: Partial<Cast>
    actor?: Actor
  } = {}): Promise<Play> {
    await this.#settle()
    const cast = { ...this.cast, ...others }
    const play = await makePlay(this.world, cast, also, actor ?? cast.member)
    return { ...play, castMember: this.cast.member }
  }

  /** Nothing that a play before this one left behind changes meanwhile: orgs are purged, connections stay alive. */
  async #settle(): Promise<void> {
    await carryOutPurges((work) => work())
    await this.world.sql(
      `UPDATE rooms.room_presence SET last_seen_at = now() + interval '1 day' WHERE last_seen_at < now()`,
    )
  }
}

async function makePlay(world: World, cast: Cast, also: readonly Actor[], actor: Actor): Promise<Play> {
  const { host, steward, deputy, member } = cast
  const { orgId } = host
  const [spaceId, roomId, deckId, connectionId, sessionId] = [newId(), newId(), newId(), newId(), newId()] as const
  const stories = [newId(), newId(), newId()]
  const slug = `s-${randomBytes(8).toString('hex')}`
  const idsOf = (people: readonly Actor[]) => [...new Set(people.map(({ userId }) => userId))]
  const config = { deck: { name: 'Deck', cards: FIBONACCI, ordinal: false }, autoReveal: false, openVoting: false }
  // Whatever the play before did to the org as a whole.
  await world.sql(
    `UPDATE identity.orgs SET status = 'active', archived_at = NULL, stopped_at = NULL, stopped_by = NULL, stop_reason = NULL
     WHERE id = $1 AND (status <> 'active' OR stopped_at IS NOT NULL)`,
    [orgId],
  )
  await world.sql(
    `WITH made AS (
       SELECT $1::uuid AS org_id, $2::uuid AS space_id, $3::uuid AS room_id
     ), spaces AS (
       INSERT INTO rooms.spaces (org_id, id, slug, name) SELECT org_id, space_id, $4, 'Space' FROM made
     ), members AS (
       INSERT INTO rooms.space_members (org_id, space_id, user_id, role)
       SELECT org_id, space_id, person, CASE WHEN person = ANY ($6::uuid[]) THEN 'owner' ELSE 'member' END
       FROM made, unnest($5::uuid[]) AS person
     ), decks AS (
       INSERT INTO rooms.decks (org_id, id, space_id, name, cards)
       SELECT org_id, $7::uuid, space_id, 'Own', '{1,2,3}' FROM made
     ), rooms AS (
       INSERT INTO rooms.rooms (org_id, id, space_id, kind, title, phase, config, facilitator_id, facilitator_seen_at)
       SELECT org_id, room_id, space_id, 'poker', 'Planning', 'active', $8::jsonb, $9::uuid, now() FROM made
     ), participants AS (
       INSERT INTO rooms.room_participants (org_id, room_id, user_id, cofacilitator)
       SELECT org_id, room_id, person, person = $11::uuid FROM made, unnest($10::uuid[]) AS person
     ), presence AS (
       INSERT INTO rooms.room_presence (org_id, room_id, connection_id, user_id, last_seen_at)
       SELECT org_id, room_id, CASE person WHEN $12::uuid THEN $13::uuid ELSE platform.new_id() END, person,
         now() + interval '1 day'
       FROM made, unnest($10::uuid[]) AS person
     )
     INSERT INTO rooms.stories (org_id, id, room_id, title, position)
     SELECT org_id, story.id, room_id, 'Story ' || at, at * 1024
     FROM made, unnest($14::uuid[]) WITH ORDINALITY AS story (id, at)`,
    [
      orgId,
      spaceId,
      roomId,
      slug,
      idsOf([host, steward, deputy, member, ...also]),
      idsOf([steward, deputy]),
      deckId,
      config,
      host.userId,
      idsOf([host, deputy, member]),
      deputy.userId,
      member.userId,
      connectionId,
      stories,
    ],
  )
  await world.sql(
    `INSERT INTO identity.sessions (id, org_id, user_id, token_hash, method)
     SELECT $1, $2, u.id, $4, 'password' FROM identity.users AS u
     WHERE u.id = $3 AND u.account <> 'guest' AND (u.home_org_id = $2 OR EXISTS (
       SELECT FROM identity.memberships AS m WHERE m.org_id = $2 AND m.user_id = u.id AND m.revoked_at IS NULL))`,
    [sessionId, actor.orgId, actor.userId, randomBytes(32)],
  )
  const ids = stories.map((id) => encodeId('Story', id)) as [string, string, string]
  const space = { id: encodeId('Space', spaceId), uuid: spaceId, slug, orgId }
  const room = { id: encodeId('Room', roomId), uuid: roomId, spaceId: space.id, orgId }
  const round = await world.putOnTable({ ...room, round: { storyId: ids[0], roundVersion: '' } }, ids[0])
  return {
    ...cast,
    castMember: member,
    space,
    room: { ...room, round },
    stories: ids,
    deckId: encodeId('Deck', deckId),
    connectionId,
    commentId: encodeId('StandupEntryComment', newId()),
    otherSessionId: encodeId('Session', sessionId),
    awayRangeId: await awayRangeOf(world, actor),
    scheduleId: absentOf('StandupSchedule'),
    link: { id: absentOf('RoomLink'), token: 'of-no-link' },
    commitmentId: absentOf('Commitment'),
    kudosId: absentOf('Kudos'),
    agentId: encodeId('Agent', newId()),
    keyId: encodeId('ApiKey', newId()),
    webhookId: encodeId('Webhook', newId()),
    deliveryId: encodeId('WebhookDelivery', newId()),
  }
}
