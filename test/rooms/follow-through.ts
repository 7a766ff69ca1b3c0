import type { Actor, Outcome, TestRoom } from '../support/actor.ts'
import type { TestSpace } from '../support/world.ts'

const COMMITMENT = `commitment { id text carried stuck openedRoom { id } closedAt closedReason user { id } }
  room { version }`
const ROOM_FAULTS = '... on LimitReachedError { limit } ... on WrongPhaseError { phase }'

export const commit = (person: Actor, room: { id: string }, text = 'Write the page'): Promise<Outcome> =>
  person.mutate('commitmentAdd', { roomId: room.id, text }, COMMITMENT, ROOM_FAULTS)
export const answer = (person: Actor, id: string, room: TestRoom, said: 'LANDED' | 'DROPPED' | 'NOT_YET') =>
  person.mutate('commitmentAnswer', { id, roomId: room.id, answer: said }, COMMITMENT)
export const mention = (person: Actor, room: TestRoom, who: { id: string }): Promise<Outcome> =>
  person.mutate('mentionAdd', { roomId: room.id, userId: who.id }, 'room { version myMentions { id } }')
export const unmention = (person: Actor, room: TestRoom, who: { id: string }): Promise<Outcome> =>
  person.mutate('mentionRemove', { roomId: room.id, userId: who.id }, 'room { version myMentions { id } }')
export const thank = (person: Actor, space: TestSpace, who: { id: string }, room?: TestRoom): Promise<Outcome> =>
  person.mutate(
    'kudosGive',
    { spaceId: space.id, userId: who.id, text: 'Thank you', ...(room && { roomId: room.id }) },
    'kudos { id text from { id } to { id } room { id } }',
  )
export const takeBack = (person: Actor, id: string): Promise<Outcome> => person.mutate('kudosDelete', { id }, 'kudosId')

/** What somebody carries over in a space. */
export const openOf = async (person: Actor, space: TestSpace) =>
  (
    await person.run(
      `query ($space: ID!) { commitments(spaceId: $space, open: true, mine: true) {
        nodes { id text carried stuck openedRoom { id } } } }`,
      { space: space.id },
    )
  ).commitments?.nodes
