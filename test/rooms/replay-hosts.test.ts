import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { type Frame, openRoomStream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const STORY = 'id title notes ref estimate quick'
const EVENTS = `subscription ($roomId: ID!, $sinceVersion: BigInt) { roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) {
  __typename version
  ... on RoomChanged { title config { ... on PokerConfig { autoReveal openVoting } } }
  ... on FacilitatorChanged { facilitatorId } ... on CofacilitatorsChanged { userIds }
  ... on ParticipantJoined { participant { user { id } } } ... on ParticipantLeft { userId }
  ... on StoryAdded { story { ${STORY} } } ... on StoryChanged { story { ${STORY} } }
  ... on StoriesImported { stories { ${STORY} } } ... on StoryRemoved { storyId }
  ... on StoryEstimated { storyId estimate }
  ... on RoundOpened { onTable: storyId waitingForIds } ... on RoundVotersChanged { waitingForIds } ... on VoteCast { userId }
} }`

type Story = { id: string; title: string; notes: string; ref: string; estimate: string | null; quick: boolean }
type State = {
  title: string
  config: { autoReveal: boolean; openVoting: boolean }
  facilitator: string | null
  cofacilitators: string[]
  participants: string[]
  stories: Story[]
  onTable: string | null
  waiting: string[]
}

async function stateOf(room: TestRoom, viewer: Actor): Promise<{ version: string; state: State }> {
  const seen = await viewer.room(
    room,
    `version title config { ... on PokerConfig { autoReveal openVoting } } facilitator { id } cofacilitators { id }
     participants { user { id } } poker { stories { ${STORY} } currentStory { id } waitingFor { id } }`,
  )
  const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id)
  const state = {
    title: seen.title,
    config: seen.config,
    facilitator: seen.facilitator?.id ?? null,
    cofacilitators: idsOf(seen.cofacilitators),
    participants: idsOf(seen.participants.map(({ user }: { user: { id: string } }) => user)),
    stories: seen.poker.stories,
    onTable: seen.poker.currentStory?.id ?? null,
    waiting: idsOf(seen.poker.waitingFor),
  }
  return { version: seen.version, state }
}

/** What a client makes of an event that knows no more than what came before it. */
function applied(state: State, event: Frame): State {
  const without = (ids: string[], id: string) => ids.filter((each) => each !== id)
  const changed = (id: string, change: Partial<Story>) =>
    state.stories.map((story) => (story.id === id ? { ...story, ...change } : story))
  switch (event.__typename) {
    case 'RoomChanged':
      return { ...state, title: event.title, config: event.config }
    case 'FacilitatorChanged':
      return { ...state, facilitator: event.facilitatorId }
    case 'CofacilitatorsChanged':
      return { ...state, cofacilitators: event.userIds }
    case 'ParticipantJoined':
      return { ...state, participants: [...state.participants, event.participant.user.id] }
    case 'ParticipantLeft':
      return { ...state, participants: without(state.participants, event.userId) }
    case 'StoryAdded':
      return { ...state, stories: [...state.stories, event.story] }
    case 'StoryChanged':
      return { ...state, stories: changed(event.story.id, event.story) }
    case 'StoriesImported':
      return { ...state, stories: [...state.stories, ...event.stories] }
    case 'StoryRemoved':
      return { ...state, stories: state.stories.filter(({ id }) => id !== event.storyId) }
    case 'StoryEstimated':
      return { ...state, stories: changed(event.storyId, { estimate: event.estimate }) }
    case 'RoundOpened':
      return { ...state, onTable: event.onTable, waiting: event.waitingForIds }
    case 'RoundVotersChanged':
      return { ...state, waiting: event.waitingForIds }
    case 'VoteCast':
      return { ...state, waiting: without(state.waiting, event.userId) }
    default:
      throw new Error(`${event.__typename} was not expected`)
  }
}

const sorted = ({ participants, waiting, ...state }: State) => ({
  ...state,
  participants: participants.toSorted(),
  waiting: waiting.toSorted(),
})

it('ROOM-172 a replay from every older version comes to the same settings, hosts and stories', async () => {
  const space = await world.space()
  const { room, host, voters } = await world.pokerRoom({ space, voters: 3, stories: 1 })
  const [heir, cohost, leaver] = voters as [Actor, Actor, Actor]
  const roomId = room.id
  const known = [await stateOf(room, heir)]
  const does = async (person: Actor, mutation: string, input: object, selection?: string) => {
    const outcome = await person.mutate(mutation, input, selection)
    expect(outcome.code, mutation).toBeUndefined()
    known.push(await stateOf(room, heir))
    return outcome
  }

  await does(host, 'storyImport', { roomId, csv: 'title,ref,estimate\nOne,A-1,5\nTwo,A-2,\nThree,A-3,' })
  await does(host, 'roomConfigSet', { roomId, change: { openVoting: true } })
  const { story } = await does(host, 'roomQuickVote', { roomId }, `story { ${STORY} }`)
  await does(host, 'roomCofacilitatorSet', { roomId, userId: leaver.id, on: true })
  await does(host, 'roomCofacilitatorSet', { roomId, userId: cohost.id, on: true })
  await does(cohost, 'storyUpdate', { id: story.id, title: 'Named' })
  await does(cohost, 'storyDelete', { id: known.at(-1)!.state.stories[2]!.id })
  await does(cohost, 'storyEstimate', { id: story.id, estimate: '8' })
  await does(host, 'voteCast', { roomId, storyId: story.id, roundVersion: '2', card: '5' })
  await does(host, 'roomFacilitatorHandOver', { roomId, userId: heir.id })
  await does(leaver, 'spaceLeave', { id: space.id })
  await does(heir, 'roomConfigSet', { roomId, change: { openVoting: false } })
  await does(heir, 'roomConfigSet', { roomId, change: { autoReveal: true } })
  await does(heir, 'roomRename', { roomId, title: 'Later' })

  // The streams below make nobody a participant, since these two are ones.
  const { version: last, state: now } = known.at(-1)!
  expect(now).toMatchObject({ facilitator: heir.id, cofacilitators: [cohost.id], config: { autoReveal: true } })
  expect(now.stories.map(({ title }) => title)).toEqual(['Story 1', 'One', 'Three', 'Named'])
  for (const { version, state } of known.slice(0, -1)) {
    const stream = openRoomStream({
      url: `${world.app.url}/graphql`,
      token: cohost.client.token!,
      variables: { roomId, sinceVersion: version },
      query: EVENTS,
    })
    await stream.next((event) => event.version === last, `version ${last}`)
    const events = stream.events.filter((event) => event.version !== null)
    stream.close()
    expect(events.map((event) => BigInt(event.version))).toEqual(
      Array.from({ length: Number(last) - Number(version) }, (_, at) => BigInt(version) + BigInt(at) + 1n),
    )
    expect(sorted(events.reduce(applied, state)), `since ${version}`).toEqual(sorted(now))
  }
})
