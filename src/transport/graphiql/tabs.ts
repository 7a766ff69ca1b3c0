/** One tab of GraphiQL: a document with its variables, and headers where somebody else than the browser's session asks. */
export type Tab = { query: string; variables?: string; headers?: string }

const json = (value: object) => JSON.stringify(value, null, 2)
const tab = (query: string, input?: object, headers?: object): Tab => ({
  query,
  ...(input && { variables: json(input) }),
  ...(headers && { headers: json(headers) }),
})

/** An Authorization header wins over the browser's cookie, so the second person can sit in the same window. */
const SECOND_PERSON = { Authorization: 'Bearer TOKEN' }

/** A first round of planning poker, one step a tab. What stands in capitals is filled in from the answers before. */
export const TABS: readonly Tab[] = [
  tab(
    `# 1. Sign in with the email and password that the terminal showed at the first start.
# The browser keeps the session as a cookie; tabs without an Authorization header use it.
mutation SignIn($input: SessionCreateWithPasswordInput!) {
  sessionCreateWithPassword(input: $input) {
    __typename
    ... on SessionCreateWithPasswordPayload {
      session { id user { displayName } }
    }
    ... on Error { code message }
  }
}`,
    { input: { email: 'owner@moothall.localhost', password: 'PASSWORD', delivery: 'COOKIE' } },
  ),
  tab(
    `# 2. A space is where a team meets. Its id goes into the next step.
mutation CreateSpace($input: SpaceCreateInput!) {
  spaceCreate(input: $input) {
    __typename
    ... on SpaceCreatePayload {
      space { id slug name }
    }
    ... on Error { code message }
  }
}`,
    { input: { slug: 'team', name: 'Team' } },
  ),
  tab(
    `# 3. Open a planning poker room in it. You lead it. Its id goes into all steps below.
mutation OpenRoom($input: RoomCreateInput!) {
  roomCreate(input: $input) {
    __typename
    ... on RoomCreatePayload {
      room { id title phase }
    }
    ... on Error { code message }
  }
}`,
    {
      input: {
        spaceId: 'SPACE_ID',
        kind: 'poker',
        title: 'First round',
        config: { poker: { deck: { preset: 'FIBONACCI' } } },
      },
    },
  ),
  tab(
    `# 4. Add two stories to estimate.
mutation AddStories($first: StoryAddInput!, $second: StoryAddInput!) {
  first: storyAdd(input: $first) {
    __typename
    ... on StoryAddPayload { story { id title } }
    ... on Error { code message }
  }
  second: storyAdd(input: $second) {
    __typename
    ... on StoryAddPayload { story { id title } }
    ... on Error { code message }
  }
}`,
    {
      first: { roomId: 'ROOM_ID', title: 'People sign in by a link' },
      second: { roomId: 'ROOM_ID', title: 'The result is shown as a chart' },
    },
  ),
  tab(
    `# 5. Put the first story on the table. The answer has the version of the round, which votes name.
mutation SelectStory($input: RoomSelectInput!) {
  roomSelect(input: $input) {
    __typename
    ... on RoomSelectPayload {
      room { poker { roundVersion currentStory { id title } } }
    }
    ... on Error { code message }
  }
}`,
    { input: { roomId: 'ROOM_ID', storyId: 'STORY_ID' } },
  ),
  tab(
    `# 6. A second person, who has no account. Their token is shown once: it goes into the header of steps 7 and 9.
mutation SignInAnonymously($input: SessionCreateAnonymousInput!) {
  sessionCreateAnonymous(input: $input) {
    __typename
    ... on SessionCreateAnonymousPayload {
      token
      session { user { displayName } }
    }
    ... on Error { code message }
  }
}`,
    { input: { orgSlug: 'main', displayName: 'Ada', delivery: 'BEARER' } },
  ),
  tab(
    `# 7. The second person joins the space. Headers below: { "Authorization": "Bearer TOKEN" }, the token of step 6.
mutation JoinSpace($input: SpaceJoinInput!) {
  spaceJoin(input: $input) {
    __typename
    ... on SpaceJoinPayload { space { id name } }
    ... on Error { code message }
  }
}`,
    { input: { slug: 'team' } },
    SECOND_PERSON,
  ),
  tab(
    `# 8. Watch the room, best in a second window: it sends a snapshot, then each change as it happens.
subscription WatchRoom($roomId: ID!) {
  roomEvents(roomId: $roomId) {
    __typename
    version
    actor { displayName }
    ... on RoomSnapshot {
      room { title poker { revealed currentStory { title } votedUserIds } }
    }
    ... on VoteCast { userId myCard }
    ... on RoundRevealed {
      votes { user { displayName } card }
      result { average consensus suggested }
    }
  }
}`,
    { roomId: 'ROOM_ID' },
  ),
  tab(
    `# 9. The second person votes, with the same header. Nobody else sees the card before it is revealed.
mutation SecondVote($input: VoteCastInput!) {
  voteCast(input: $input) {
    __typename
    ... on VoteCastPayload { myCard }
    ... on Error { code message }
  }
}`,
    { input: { roomId: 'ROOM_ID', storyId: 'STORY_ID', roundVersion: 'ROUND_VERSION', card: '5' } },
    SECOND_PERSON,
  ),
  tab(
    `# 10. You vote too.
mutation Vote($input: VoteCastInput!) {
  voteCast(input: $input) {
    __typename
    ... on VoteCastPayload {
      myCard
      room { poker { votedUserIds waitingFor { displayName } } }
    }
    ... on Error { code message }
  }
}`,
    { input: { roomId: 'ROOM_ID', storyId: 'STORY_ID', roundVersion: 'ROUND_VERSION', card: '3' } },
  ),
  tab(
    `# 11. Reveal the cards, and see what came of it.
mutation Reveal($input: RoomRevealInput!) {
  roomReveal(input: $input) {
    __typename
    ... on RoomRevealPayload {
      room {
        poker {
          revealed
          currentStory {
            title
            votes { user { displayName } card }
            result { counted average mode consensus suggested distribution { card count } }
          }
        }
      }
    }
    ... on Error { code message }
  }
}`,
    { input: { roomId: 'ROOM_ID', roundVersion: 'ROUND_VERSION' } },
  ),
  tab(
    `# 12. The record: everything that is done from now on, for owners and admins. Run it in a second window.
subscription FollowTheRecord {
  auditFeed {
    event { createdAt type actor { displayName } targetKind targetId payload }
    cursor
  }
}`,
  ),
]
