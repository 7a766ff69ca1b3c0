import type { Actor, Outcome, TestRoom } from '../support/actor.ts'
import type { World } from '../support/world.ts'

/** The table of a room as one viewer sees it. */
export const TABLE = `version poker { roundVersion revealed myCard votedUserIds waitingFor { id }
  currentStory { id estimate revealedAt votes { userId card } result { counted } } } timer { endsAt }`

export const select = (host: Actor, room: TestRoom, storyId: string | null): Promise<Outcome> =>
  host.mutate('roomSelect', { roomId: room.id, storyId }, `room { ${TABLE} }`)

/** Puts a story on the table and makes it the round that `vote` and `reveal` mean. */
export async function open(host: Actor, room: TestRoom, storyId: string): Promise<Outcome> {
  const outcome = await select(host, room, storyId)
  room.round = { storyId, roundVersion: outcome['room'].poker.roundVersion }
  return outcome
}

/** Removes all votes, and makes the round that follows the one that `vote` and `reveal` mean. */
export async function reset(host: Actor, room: TestRoom): Promise<Outcome> {
  const outcome = await host.mutate('roomReset', { roomId: room.id }, `room { ${TABLE} }`)
  room.round = { ...room.round, roundVersion: outcome['room'].poker.roundVersion }
  return outcome
}

export const lastEvents = async (world: World, room: TestRoom, count: number) =>
  (await world.events(room)).slice(-count)

export const next = (roundVersion: string, by = 1n): string => String(BigInt(roundVersion) + by)
export const idsOf = (people: readonly { id: string }[]): string[] => people.map(({ id }) => id).sort()

export type Shown = {
  revealed: boolean
  roundVersion: string
  cards: Map<string, string | null>
  counted: number | undefined
}

/** The round on the table as somebody sees it: who voted what, and what it came to. */
export async function roundSeenBy(viewer: Actor, room: TestRoom): Promise<Shown> {
  const { poker } = await viewer.room(
    room,
    'poker { revealed roundVersion currentStory { votes { userId card } result { counted } } }',
  )
  const votes: { userId: string; card: string | null }[] = poker.currentStory?.votes ?? []
  return {
    revealed: poker.revealed,
    roundVersion: poker.roundVersion,
    cards: new Map(votes.map(({ userId, card }) => [userId, card])),
    counted: poker.currentStory?.result?.counted,
  }
}
