import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createUser } from '../../src/identity/index.ts'
import { graphql } from '../generated/index.ts'
import { type App, startApp } from '../support/app.ts'
import type { Answer } from '../support/client.ts'
import { openEventStream } from '../support/event-stream.ts'
import { openRoomStream, ROOM_EVENTS } from '../support/room-stream.ts'

// The README's first round, by the typed client: what a person does with the API in their first minutes.

const PASSWORD = 'a long enough password'

const SignIn = graphql(`mutation SignIn($input: SessionCreateWithPasswordInput!) {
  sessionCreateWithPassword(input: $input) { __typename ... on SessionCreateWithPasswordPayload { token session { user { displayName } } } }
}`)
const CreateSpace = graphql(`mutation CreateSpace($input: SpaceCreateInput!) {
  spaceCreate(input: $input) { __typename ... on SpaceCreatePayload { space { id slug myRole } } }
}`)
const CreateRoom = graphql(`mutation CreateRoom($input: RoomCreateInput!) {
  roomCreate(input: $input) { __typename ... on RoomCreatePayload { room { id phase config { __typename ... on PokerConfig { cards } } } } }
}`)
const AddStory = graphql(`mutation AddStory($input: StoryAddInput!) {
  storyAdd(input: $input) { __typename ... on StoryAddPayload { story { id title } } }
}`)
const Select = graphql(`mutation Select($input: RoomSelectInput!) {
  roomSelect(input: $input) { __typename ... on RoomSelectPayload { room { poker { roundVersion currentStory { id } } } } }
}`)
const SignInAnonymously = graphql(`mutation SignInAnonymously($input: SessionCreateAnonymousInput!) {
  sessionCreateAnonymous(input: $input) { __typename ... on SessionCreateAnonymousPayload { token } }
}`)
const JoinSpace = graphql(`mutation JoinSpace($input: SpaceJoinInput!) {
  spaceJoin(input: $input) { __typename ... on SpaceJoinPayload { space { name } } }
}`)
const Vote = graphql(`mutation Vote($input: VoteCastInput!) {
  voteCast(input: $input) { __typename ... on VoteCastPayload { myCard } }
}`)
const Reveal = graphql(`mutation Reveal($input: RoomRevealInput!) {
  roomReveal(input: $input) { __typename ... on RoomRevealPayload { room { poker { currentStory { result { average counted consensus } votes { card user { displayName } } } } } } }
}`)
const Record = graphql(
  `query Record { auditFeed(first: 100) { caughtUp items { event { type actor { displayName } } } } }`,
)

let app: App
beforeAll(async () => {
  app = await startApp({ MOOTHALL_ORG_CREATE: 'operator' })
  const owner = new pg.Client({ connectionString: app.database.ownerUrl })
  await owner.connect()
  await owner.query(
    `INSERT INTO identity.orgs (slug, name, api_version, allow_anonymous) VALUES ('main', 'Main', '2026-01-01', true)`,
  )
  await owner.end()
  await createUser({ orgSlug: 'main', email: 'ada@example.org', role: 'owner', displayName: 'Ada', password: PASSWORD })
})
afterAll(() => app.close())

it('ROOM-69, ROOM-72 a first round: sign in, space, room, stories, a second voter, live events on both transports, reveal, record', async () => {
  const { sessionCreateWithPassword: signedIn } = await app
    .client()
    .run(SignIn, { input: { email: 'ada@example.org', password: PASSWORD, delivery: 'BEARER' } })
  if (signedIn?.__typename !== 'SessionCreateWithPasswordPayload') throw new Error(signedIn?.__typename)
  expect(signedIn.session?.user?.displayName).toBe('Ada')
  const ada = app.client(signedIn.token!)

  const { spaceCreate } = await ada.run(CreateSpace, { input: { slug: 'crew', name: 'Crew' } })
  if (spaceCreate?.__typename !== 'SpaceCreatePayload') throw new Error(spaceCreate?.__typename)
  const { roomCreate } = await ada.run(CreateRoom, {
    input: {
      spaceId: spaceCreate.space!.id,
      kind: 'poker',
      title: 'Sprint 1',
      config: { poker: { deck: { preset: 'FIBONACCI' } } },
    },
  })
  if (roomCreate?.__typename !== 'RoomCreatePayload') throw new Error(roomCreate?.__typename)
  const roomId = roomCreate.room!.id
  const { storyAdd } = await ada.run(AddStory, { input: { roomId, title: 'Sign in by link' } })
  if (storyAdd?.__typename !== 'StoryAddPayload') throw new Error(storyAdd?.__typename)
  const { roomSelect } = await ada.run(Select, { input: { roomId, storyId: storyAdd.story!.id } })
  if (roomSelect?.__typename !== 'RoomSelectPayload') throw new Error(roomSelect?.__typename)
  const round = { roomId, storyId: storyAdd.story!.id, roundVersion: roomSelect.room!.poker!.roundVersion }

  const { sessionCreateAnonymous: anonymous } = await app
    .client()
    .run(SignInAnonymously, { input: { orgSlug: 'main', displayName: 'Guest', delivery: 'BEARER' } })
  if (anonymous?.__typename !== 'SessionCreateAnonymousPayload') throw new Error(anonymous?.__typename)
  const visitor = app.client(anonymous.token!)
  const { spaceJoin } = await visitor.run(JoinSpace, { input: { slug: 'crew' } })
  expect(spaceJoin?.__typename).toBe('SpaceJoinPayload')

  const endpoint = `${app.url}/graphql`
  const socket = openRoomStream({ url: endpoint, token: ada.token!, variables: { roomId } })
  const events = await openEventStream(endpoint, visitor.token!, ROOM_EVENTS, { roomId })
  const snapshot = (answer: Answer) => answer.data?.roomEvents.__typename === 'RoomSnapshot'
  await Promise.all([socket.next(({ __typename }) => __typename === 'RoomSnapshot'), events.next(snapshot)])

  await Promise.all([
    ada.run(Vote, { input: { ...round, card: '3' } }),
    visitor.run(Vote, { input: { ...round, card: '5' } }),
  ])
  const { roomReveal } = await ada.run(Reveal, { input: { roomId, roundVersion: round.roundVersion } })
  if (roomReveal?.__typename !== 'RoomRevealPayload') throw new Error(roomReveal?.__typename)
  expect(roomReveal.room!.poker!.currentStory).toMatchObject({ result: { average: 4, counted: 2, consensus: false } })

  const revealed = (event: { __typename: string; version: string }) => event.__typename === 'RoundRevealed'
  const [bySocket, byEvents] = await Promise.all([
    socket.next(revealed),
    events.next(({ data }) => revealed(data.roomEvents)),
  ])
  expect(byEvents.data.roomEvents).toEqual(bySocket)
  expect(bySocket.votes.map(({ card }: { card: string }) => card).sort()).toEqual(['3', '5'])
  socket.close()
  events.close()

  // The feed waits for whatever is under way on the same database server.
  const recorded = async () => (await ada.run(Record, {})).auditFeed?.items.map(({ event }) => event.type)
  await expect
    .poll(recorded, { timeout: 30_000 })
    .toEqual(
      expect.arrayContaining([
        'session.created',
        'space.created',
        'room.created',
        'story.added',
        'round.opened',
        'space.member_joined',
        'vote.cast',
        'round.revealed',
      ]),
    )
})
