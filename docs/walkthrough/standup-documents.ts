import { graphql } from '../../test/generated/gql.ts'

export const SCHEDULE = graphql(`
  mutation WalkSchedule($input: StandupScheduleSetInput!) {
    standupScheduleSet(input: $input) {
      __typename
      ... on StandupScheduleSetPayload { schedule { id nextOpenAt } }
      ... on Error { code message }
    }
  }
`)

export const ANSWER_AHEAD = graphql(`
  mutation WalkAnswerAhead($input: StandupAheadPutInput!) {
    standupAheadPut(input: $input) {
      __typename
      ... on StandupAheadPutPayload { aheadEntry { day today } }
      ... on Error { code message }
    }
  }
`)

export const SLOTS = graphql(`
  query WalkSlots($spaceId: ID!) {
    space(id: $spaceId) { schedule { slots(first: 1) { nodes { slotDate outcome room { id } } } } }
  }
`)

export const ANSWER = graphql(`
  mutation WalkAnswer($input: StandupEntryPutInput!) {
    standupEntryPut(input: $input) {
      __typename
      ... on StandupEntryPutPayload { room { version } entry { answered } }
      ... on Error { code message }
    }
  }
`)

export const START = graphql(`
  mutation WalkStart($input: StandupStartInput!) {
    standupStart(input: $input) {
      __typename
      ... on StandupStartPayload { room { version standup { currentSpeakerId } } }
      ... on Error { code message }
    }
  }
`)

export const NEXT = graphql(`
  mutation WalkNext($input: StandupNextInput!) {
    standupNext(input: $input) {
      __typename
      ... on StandupNextPayload { room { version standup { currentSpeakerId } } }
      ... on Error { code message }
    }
  }
`)

export const COMMIT = graphql(`
  mutation WalkCommit($input: CommitmentAddInput!) {
    commitmentAdd(input: $input) {
      __typename
      ... on CommitmentAddPayload { room { version } commitment { text } }
      ... on Error { code message }
    }
  }
`)

export const THANK = graphql(`
  mutation WalkThank($input: KudosGiveInput!) {
    kudosGive(input: $input) {
      __typename
      ... on KudosGivePayload { kudos { room { version } } }
      ... on Error { code message }
    }
  }
`)

export const TREND = graphql(`
  query WalkTrend($spaceId: ID!) { standupTrend(spaceId: $spaceId, weeks: 1) { startsOn answeredPercent } }
`)

export const CALENDAR = graphql(`
  mutation WalkCalendar($input: CalendarFeedMintInput!) {
    calendarFeedMint(input: $input) {
      __typename
      ... on CalendarFeedMintPayload { url }
      ... on Error { code message }
    }
  }
`)

export const FOLLOW_STANDUP = graphql(`
  subscription WalkFollowStandup($roomId: ID!, $sinceVersion: BigInt) {
    roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) {
      __typename
      version
      actor { id displayName }
      ... on RoomSnapshot {
        room {
          title
          participants { user { id displayName } }
          standup { entries { user { id displayName } answered today } }
        }
      }
      ... on ParticipantJoined { participant { user { id displayName } } }
      ... on EntryChanged { entry { user { id displayName } yesterday today blockers } }
      ... on SpeakingStarted { order { userId } }
      ... on SpeakerChanged { speakerId }
      ... on CommitmentChanged { commitment { user { id displayName } text } }
      ... on KudosGiven { kudos { from { id displayName } to { id displayName } text } }
      ... on RoomPhaseChanged { phase }
    }
  }
`)
