import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor, Outcome, TestRoom } from '../support/actor.ts'
import type { TestSpace, World } from '../support/world.ts'

type Setup = {
  space?: TestSpace
  host?: Actor
  /** How many members beside the host. */
  people?: number
  async?: boolean
  speakerSeconds?: number
}

/** A standup that gathers, with a host and people who are all present, in the order in which they came. */
export async function standup(
  world: World,
  { space = world.home, host: leader, people: count = 0, async: isAsync = false, speakerSeconds = 120 }: Setup = {},
): Promise<{ room: TestRoom; host: Actor; people: Actor[] }> {
  const host = leader ?? (await world.member({ space }))
  const people = await Promise.all(Array.from({ length: count }, () => world.member({ space })))
  const uuid = newId()
  await world.sql(
    `INSERT INTO rooms.rooms (org_id, id, space_id, kind, title, phase, config, facilitator_id, facilitator_seen_at)
     VALUES ($1, $2, $3, 'standup', 'Standup', 'gather', $4, $5, now())`,
    [space.orgId, uuid, space.uuid, { async: isAsync, speakerSeconds }, host.userId],
  )
  const room: TestRoom = {
    id: encodeId('Room', uuid),
    uuid,
    spaceId: space.id,
    orgId: space.orgId,
    round: { storyId: '', roundVersion: '0' },
  }
  for (const person of [host, ...people]) await world.attend(room, person)
  return { room, host, people }
}

/** Everything that a standup shows. */
export const STANDUP = `version phase endedAt timer { startedAt endsAt onEnd }
  standup { async closesAt currentSpeakerId currentSpeaker { id } speakerStartedAt order { userId spoken skipped }
    entries { userId user { id } yesterday today blockers skipped ready answered spokenAt
      comments { id text author { id } } reactions { emoji count mine } } }`

const SELECTED = `room { ${STANDUP} }`

export const seen = (viewer: Actor, room: TestRoom) => viewer.room(room, STANDUP)
export const put = (person: Actor, room: TestRoom, text: object): Promise<Outcome> =>
  person.mutate(
    'standupEntryPut',
    { roomId: room.id, ...text },
    `entry { yesterday today blockers answered } ${SELECTED}`,
  )
export const ready = (person: Actor, room: TestRoom, on = true): Promise<Outcome> =>
  person.mutate('standupReadySet', { roomId: room.id, ready: on }, `entry { ready } ${SELECTED}`, WRONG_PHASE)
export const start = (host: Actor, room: TestRoom, order: 'JOINED' | 'SHUFFLED' = 'JOINED'): Promise<Outcome> =>
  host.mutate('standupStart', { roomId: room.id, order }, SELECTED, WRONG_PHASE)
export const pass = (person: Actor, room: TestRoom, expected: { id: string } | null): Promise<Outcome> =>
  person.mutate('standupNext', { roomId: room.id, expectedSpeakerId: expected?.id ?? null }, SELECTED, WRONG_PHASE)
export const skip = (person: Actor, room: TestRoom, who: { id: string }, skipped = true): Promise<Outcome> =>
  person.mutate(
    'standupSkip',
    { roomId: room.id, userId: who.id, skipped },
    `entry { skipped } ${SELECTED}`,
    WRONG_PHASE,
  )
export const arrange = (host: Actor, room: TestRoom, people: readonly { id: string }[]): Promise<Outcome> =>
  host.mutate('standupOrderSet', { roomId: room.id, userIds: people.map(({ id }) => id) }, SELECTED, WRONG_PHASE)
export const gather = (host: Actor, room: TestRoom): Promise<Outcome> =>
  host.mutate('standupGather', { roomId: room.id }, SELECTED, WRONG_PHASE)
export const comment = (person: Actor, room: TestRoom, whose: { id: string }, text = 'Good'): Promise<Outcome> =>
  person.mutate(
    'standupEntryComment',
    { roomId: room.id, entryUserId: whose.id, text },
    `comment { id text author { id } } entry { comments { id text } } room { version }`,
    `${WRONG_PHASE} ... on LimitReachedError { limit }`,
  )
export const react = (person: Actor, room: TestRoom, whose: { id: string }, emoji = '👍'): Promise<Outcome> =>
  person.mutate(
    'standupEntryReact',
    { roomId: room.id, entryUserId: whose.id, emoji },
    'entry { reactions { emoji count mine } } room { version }',
    WRONG_PHASE,
  )

const WRONG_PHASE = '... on WrongPhaseError { phase }'

/** Ids in the order in which people speak. */
export const orderIn = ({ standup }: { standup: { order: { userId: string }[] } }): string[] =>
  standup.order.map(({ userId }) => userId)

export const idsOf = (people: readonly { id: string }[]): string[] => people.map(({ id }) => id)

/** Makes somebody attach as they do by opening the room. */
export const attach = (person: Actor, room: TestRoom): Promise<Outcome> =>
  person.mutate('roomHeartbeat', { roomId: room.id, connectionId: newId() })
