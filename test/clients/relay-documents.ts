/** What a Relay application would write, a file each. Names of documents begin with the name of their file. */
export const RELAY_DOCUMENTS: Readonly<Record<string, string>> = {
  members: `
    fragment members_list on Query
    @argumentDefinitions(
      count: { type: "Int", defaultValue: 20 }
      cursor: { type: "String" }
      filter: { type: "MemberFilter" }
    )
    @refetchable(queryName: "membersPageQuery") {
      members(first: $count, after: $cursor, filter: $filter, orderBy: USERNAME)
        @connection(key: "members_members", filters: ["filter"]) {
        totalCount
        edges { node { userId username role user { id displayName } } }
      }
    }`,
  sessions: `
    fragment sessions_list on Query
    @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" })
    @refetchable(queryName: "sessionsPageQuery") {
      viewer {
        sessions(first: $count, after: $cursor) @connection(key: "sessions_sessions") {
          edges { node { id isCurrent lastSeenAt ...sessions_row } }
        }
      }
    }
    fragment sessions_row on Session @refetchable(queryName: "sessionsRowQuery") { method userAgent }
    mutation sessionsRevokeMutation($input: SessionRevokeInput!) {
      sessionRevoke(input: $input) {
        __typename
        ... on SessionRevokePayload { session { id revokedAt revokeReason } }
        ... on Error { code message }
      }
    }`,
  spaces: `
    fragment spaces_list on Query
    @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" })
    @refetchable(queryName: "spacesPageQuery") {
      spaces(first: $count, after: $cursor) @connection(key: "spaces_spaces") {
        __id
        edges { node { id name ...rooms_list } }
      }
    }
    mutation spacesCreateMutation($input: SpaceCreateInput!, $connections: [ID!]!) {
      spaceCreate(input: $input) {
        __typename
        ... on SpaceCreatePayload {
          space @prependNode(connections: $connections, edgeTypeName: "SpaceEdge") { id name slug }
        }
        ... on InvalidInputError { code issues { path message } }
        ... on Error { code message }
      }
    }
    mutation spacesDeleteMutation($input: SpaceDeleteInput!, $connections: [ID!]!) {
      spaceDelete(input: $input) {
        __typename
        ... on SpaceDeletePayload { spaceId @deleteRecord @deleteEdge(connections: $connections) }
        ... on Error { code message }
      }
    }`,
  rooms: `
    fragment rooms_list on Space
    @argumentDefinitions(
      count: { type: "Int", defaultValue: 20 }
      cursor: { type: "String" }
      filter: { type: "RoomFilter" }
    )
    @refetchable(queryName: "roomsPageQuery") {
      rooms(first: $count, after: $cursor, filter: $filter) @connection(key: "rooms_rooms") {
        totalCount
        edges { node { id title ...rooms_state } }
      }
    }
    fragment rooms_state on Room @refetchable(queryName: "roomsStateQuery") {
      version
      phase
      presentUserIds
      poker { revealed currentStory { id title } }
    }
    subscription roomsEventsSubscription($roomId: ID!, $sinceVersion: BigInt) {
      roomEvents(roomId: $roomId, sinceVersion: $sinceVersion) {
        __typename
        version
        ... on RoomSnapshot { room { ...rooms_state } }
        ... on VoteCast { userId }
        ... on RoundRevealed { votes { user { id displayName } card } result { average } }
      }
    }`,
  auditEvents: `
    fragment auditEvents_list on Query
    @argumentDefinitions(
      count: { type: "Int", defaultValue: 20 }
      cursor: { type: "String" }
      filter: { type: "AuditFilter" }
    )
    @refetchable(queryName: "auditEventsPageQuery") {
      auditEvents(first: $count, after: $cursor, filter: $filter) @connection(key: "auditEvents_auditEvents") {
        edges { node { id type createdAt actor { id displayName } target { __typename id ... on Room { title } } } }
      }
    }`,
  agents: `
    fragment agents_list on Query
    @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" })
    @refetchable(queryName: "agentsPageQuery") {
      agents(first: $count, after: $cursor) @connection(key: "agents_agents") {
        edges { node { id name status mode ...agents_detail } }
      }
    }
    fragment agents_detail on Agent @refetchable(queryName: "agentsDetailQuery") {
      createdAt
      intentMode
      createdBy { id displayName }
    }`,
  apiKeys: `
    fragment apiKeys_list on Query
    @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" }, agentId: { type: "ID" })
    @refetchable(queryName: "apiKeysPageQuery") {
      apiKeys(first: $count, after: $cursor, agentId: $agentId) @connection(key: "apiKeys_apiKeys") {
        edges { node { id name prefix live scopes agent { id name } } }
      }
    }`,
  webhooks: `
    fragment webhooks_list on Query
    @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, cursor: { type: "String" }, spaceId: { type: "ID" })
    @refetchable(queryName: "webhooksPageQuery") {
      webhooks(first: $count, after: $cursor, spaceId: $spaceId) @connection(key: "webhooks_webhooks") {
        edges { node { id url isActive ...webhooks_deliveries } }
      }
    }
    fragment webhooks_deliveries on Webhook
    @argumentDefinitions(count: { type: "Int", defaultValue: 10 }, cursor: { type: "String" })
    @refetchable(queryName: "webhooksDeliveriesQuery") {
      deliveries(first: $count, after: $cursor) @connection(key: "webhooks_deliveries") {
        edges { node { id state lastError event { id type } } }
      }
    }`,
  anyNode: `
    fragment anyNode_label on Node @refetchable(queryName: "anyNodeQuery") {
      __typename
      id
      ... on Space { name }
      ... on Room { title }
      ... on User { displayName }
      ... on Webhook { url }
    }`,
}
