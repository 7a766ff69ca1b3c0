import { graphql } from '../../test/generated/gql.ts'

export const MAKE_DECK = graphql(`
  mutation WalkMakeDeck($input: DeckCreateInput!) {
    deckCreate(input: $input) {
      __typename
      ... on DeckCreatePayload { deck { id name cards } }
      ... on Error { code message }
    }
  }
`)

export const ADD_STORY = graphql(`
  mutation WalkAddStory($input: StoryAddInput!) {
    storyAdd(input: $input) {
      __typename
      ... on StoryAddPayload { story { id title ref } room { version } }
      ... on Error { code message }
    }
  }
`)

export const SELECT = graphql(`
  mutation WalkSelect($input: RoomSelectInput!) {
    roomSelect(input: $input) {
      __typename
      ... on RoomSelectPayload { room { version poker { roundVersion } } }
      ... on Error { code message }
    }
  }
`)

export const VOTE = graphql(`
  mutation WalkVote($input: VoteCastInput!) {
    voteCast(input: $input) {
      __typename
      ... on VoteCastPayload { room { version } myCard }
      ... on Error { code message }
    }
  }
`)

export const ESTIMATE = graphql(`
  mutation WalkEstimate($input: StoryEstimateInput!) {
    storyEstimate(input: $input) {
      __typename
      ... on StoryEstimatePayload { room { version } story { estimate } }
      ... on Error { code message }
    }
  }
`)

export const QUICK_VOTE = graphql(`
  mutation WalkQuickVote($input: RoomQuickVoteInput!) {
    roomQuickVote(input: $input) {
      __typename
      ... on RoomQuickVotePayload { room { version poker { roundVersion } } story { id title } }
      ... on Error { code message }
    }
  }
`)

export const FOLLOW_POKER = graphql(`
  subscription WalkFollowPoker($roomId: ID!, $sinceVersion: BigInt) {
    roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) {
      __typename
      version
      actor { displayName }
      ... on RoomSnapshot { room { title participants { user { displayName } guest } } }
      ... on ParticipantJoined { participant { user { displayName } guest } }
      ... on StoryAdded { story { title ref } }
      ... on RoundOpened { waitingForIds }
      ... on RoundRevealed {
        reason
        votes { user { displayName } card }
        result { average consensus suggested distribution { card count } }
      }
      ... on StoryEstimated { estimate }
      ... on RoomPhaseChanged { phase }
    }
  }
`)
