import { randomBytes } from 'node:crypto'
import type { Answer, GraphqlClient } from './client.ts'

export type KeyedAnswer = { status: number; replayed: boolean; retryAfter: string | null; text: string; body: Answer }

export const newKey = (): string => randomBytes(12).toString('base64url')

/** Sends a document under an idempotency key, over HTTP. */
export async function sendKeyed(
  client: GraphqlClient,
  key: string,
  document: string,
  variables: object = {},
): Promise<KeyedAnswer> {
  const response = await client.post(document, variables, { 'idempotency-key': key })
  const text = await response.text()
  return {
    status: response.status,
    replayed: response.headers.get('idempotency-replayed') === 'true',
    retryAfter: response.headers.get('retry-after'),
    text,
    body: JSON.parse(text) as Answer,
  }
}

/** A story's title is counted to see how often a request took effect; a room's version travels as a BigInt. */
export const STORY_ADD = `mutation Add($input: StoryAddInput!) {
  storyAdd(input: $input) { __typename ... on StoryAddPayload { story { id title } room { version } } ... on Error { code } }
}`
