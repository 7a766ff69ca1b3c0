import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import { type TestSpace, uuidOf, type World } from '../support/world.ts'
import { withStandup } from './play-standup.ts'
import type { Play } from './stage.ts'

type Somebody = { userId: string }

/** A commitment of a member of the space. */
export async function commitmentOf(world: World, { orgId, uuid }: TestSpace, { userId }: Somebody): Promise<string> {
  const id = newId()
  await world.sql(
    `INSERT INTO rooms.standup_commitments (org_id, id, space_id, user_id, text) VALUES ($1, $2, $3, $4, 'Work')`,
    [orgId, id, uuid, userId],
  )
  return encodeId('Commitment', id)
}

/** Thanks from a member of the space to another one, who is made for it where nobody is named. */
export async function kudosOf(world: World, space: TestSpace, from: Somebody, to?: Somebody): Promise<string> {
  const { orgId, uuid } = space
  const taker = to?.userId ?? (await world.user('agent', orgId))
  if (!to) {
    await world.sql('INSERT INTO rooms.space_members (org_id, space_id, user_id) VALUES ($1, $2, $3)', [
      orgId,
      uuid,
      taker,
    ])
  }
  const id = newId()
  await world.sql(
    `INSERT INTO rooms.kudos (org_id, id, space_id, from_user_id, to_user_id, text) VALUES ($1, $2, $3, $4, $5, 'Thanks')`,
    [orgId, id, uuid, from.userId, taker],
  )
  return encodeId('Kudos', id)
}

/** The play's standup, to which its member brings a commitment. */
export async function withCommitment(world: World, play: Play): Promise<void> {
  await withStandup(world, play)
  play.commitmentId = await commitmentOf(world, play.space, play.castMember)
}

/** The member has thanked the host. */
export async function withKudos(world: World, play: Play): Promise<void> {
  play.kudosId = await kudosOf(world, play.space, play.castMember, play.host)
}

/** The play's standup, in which everybody of the space has asked the steward for help. */
export async function withMention(world: World, play: Play): Promise<void> {
  await withStandup(world, play)
  await world.sql(
    `INSERT INTO rooms.standup_mentions (org_id, room_id, from_user_id, to_user_id)
     SELECT m.org_id, $2, m.user_id, $3 FROM rooms.members AS m WHERE m.space_id = $1 AND m.user_id <> $3`,
    [play.space.uuid, uuidOf(play.room.id), play.steward.userId],
  )
}
