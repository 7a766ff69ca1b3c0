import { graphql } from '../../test/generated/gql.ts'

export const SIGN_IN = graphql(`
  mutation WalkSignIn($input: SessionCreateWithPasswordInput!) {
    sessionCreateWithPassword(input: $input) {
      __typename
      ... on SessionCreateWithPasswordPayload { token session { user { id displayName } } }
      ... on Error { code message }
    }
  }
`)

export const WHERE = graphql(`
  query WalkWhere { viewer { org { slug name } } }
`)

export const COME_ANONYMOUSLY = graphql(`
  mutation WalkComeAnonymously($input: SessionCreateAnonymousInput!) {
    sessionCreateAnonymous(input: $input) {
      __typename
      ... on SessionCreateAnonymousPayload { token session { user { id displayName } } }
      ... on Error { code message }
    }
  }
`)

export const MAKE_SPACE = graphql(`
  mutation WalkMakeSpace($input: SpaceCreateInput!) {
    spaceCreate(input: $input) {
      __typename
      ... on SpaceCreatePayload { space { id slug name } }
      ... on Error { code message }
    }
  }
`)

export const JOIN_SPACE = graphql(`
  mutation WalkJoinSpace($input: SpaceJoinInput!) {
    spaceJoin(input: $input) {
      __typename
      ... on SpaceJoinPayload { space { id name } }
      ... on Error { code message }
    }
  }
`)

export const OPEN_ROOM = graphql(`
  mutation WalkOpenRoom($input: RoomCreateInput!) {
    roomCreate(input: $input) {
      __typename
      ... on RoomCreatePayload { room { id title version } }
      ... on Error { code message }
    }
  }
`)

export const END_ROOM = graphql(`
  mutation WalkEndRoom($input: RoomEndInput!) {
    roomEnd(input: $input) {
      __typename
      ... on RoomEndPayload { room { version } }
      ... on Error { code message }
    }
  }
`)

export const EXPORT = graphql(`
  query WalkExport($roomId: ID!) { roomCsv(roomId: $roomId) }
`)
