import { encodeId } from '../../src/graphql/ids.ts'
import type { Answer, GraphqlClient } from './client.ts'

/** What a mutation answers: its payload's selected fields, or an error's code. */
// biome-ignore lint/suspicious/noExplicitAny: the selection is text
export type Outcome = { __typename: string; code?: string; message?: string } & Record<string, any>

/** The round that lies on a room's table when a test begins. */
export type Round = { storyId: string; roundVersion: string }

/** A room as tests name it: global ids, its own uuid for SQL. */
export type TestRoom = { id: string; uuid: string; spaceId: string; orgId: string; round: Round }

export type Identity = { orgId: string; userId: string; sessionId: string }

const ERRORS = `... on Error { code message }
  ... on InvalidInputError { issues { path message } }
  ... on NotFoundError { path }`

/** Whoever calls, and what they do. An admin key is nothing more than this. */
export class Asker {
  readonly orgId: string
  readonly client: GraphqlClient

  constructor(orgId: string, client: GraphqlClient) {
    this.orgId = orgId
    this.client = client
  }

  /** The whole answer, top-level errors included. */
  send(document: string, variables?: object): Promise<Answer> {
    return this.client.send(document, variables)
  }

  /** The data; fails on any top-level error. */
  // biome-ignore lint/suspicious/noExplicitAny: the document is text
  run(document: string, variables?: object): Promise<any> {
    return this.client.run(document, variables)
  }

  /** Runs one mutation and gives its payload (of which `selection` is read) or its error. */
  async mutate(name: string, input: object, selection = '__typename', errors = ''): Promise<Outcome> {
    const answered = await this.client.run(mutationText(name, selection, errors), { input })
    return (answered as Record<string, Outcome>)[name]!
  }

  /** The same, with the top-level errors. */
  attempt(name: string, input: object, selection = '__typename', errors = ''): Promise<Answer> {
    return this.client.send(mutationText(name, selection, errors), { input })
  }

  vote(room: TestRoom, card: string, round: Round = room.round): Promise<Outcome> {
    return this.mutate(
      'voteCast',
      { roomId: room.id, ...round, card },
      'room { version } myCard',
      '... on RoundClosedError { roundVersion revealed }',
    )
  }

  reveal(room: TestRoom, { roundVersion }: Pick<Round, 'roundVersion'> = room.round): Promise<Outcome> {
    const selection =
      'room { version poker { revealed currentStory { votes { user { id } card } result { counted } } } }'
    return this.mutate(
      'roomReveal',
      { roomId: room.id, roundVersion },
      selection,
      '... on RoundClosedError { roundVersion revealed }',
    )
  }

  /** What `selection` of the room this actor sees; null when none of it. */
  // biome-ignore lint/suspicious/noExplicitAny: the selection is text
  async room(room: Pick<TestRoom, 'id'>, selection = 'id version phase'): Promise<any> {
    return (await this.run(`query ($id: ID!) { room(id: $id) { ${selection} } }`, { id: room.id })).room
  }
}

/** Somebody signed in; or an agent, whose session's id is empty. */
export class Actor extends Asker {
  readonly userId: string
  readonly sessionId: string
  /** Global id of the person. */
  readonly id: string

  constructor({ orgId, userId, sessionId }: Identity, client: GraphqlClient) {
    super(orgId, client)
    this.userId = userId
    this.sessionId = sessionId
    this.id = encodeId('User', userId)
  }
}

/** A key as a test holds it. */
export type HeldKey = { readonly keyId: string; readonly key: string; readonly prefix: string }

function mutationText(name: string, selection: string, errors: string): string {
  const title = name.charAt(0).toUpperCase() + name.slice(1)
  return `mutation ($input: ${title}Input!) {
  ${name}(input: $input) { __typename ... on ${title}Payload { ${selection} } ${ERRORS} ${errors} }
}`
}
