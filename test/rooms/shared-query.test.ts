import { parse } from 'graphql'
import { expect, it } from 'vitest'
import { SharedQueries } from '../../src/rooms/live/shared-query.ts'
import { schema } from '../../src/schema.ts'

const DOCUMENT = `subscription S($roomId: ID!, $since: BigInt, $connection: UUID, $titles: Boolean!) {
  roomEvents(roomId: $roomId, sinceVersion: $since, connectionId: $connection) {
    version ... on RoomSnapshot { room { title @include(if: $titles) } }
  }
}`
const given = { roomId: 'rom_x', since: '1', connection: 'a', titles: true }
const sharer = () => {
  const queries = new SharedQueries()
  return (variables: object, text = DOCUMENT) =>
    queries.of({ schema, document: parse(text), operationName: undefined, variables: { ...given, ...variables } })
}

it('ROOM-173 shares renderings among clients that differ in where they begin and what their connection is called', () => {
  const query = sharer()
  expect(query({ connection: 'b', since: '7' })).toBe(query({}))
  expect(query({ connection: undefined })).toBe(query({}))
})

it('ROOM-173 renders apart what a variable in the selection makes differ', () => {
  const query = sharer()
  expect(query({ titles: false })).not.toBe(query({}))
  expect(query({}, DOCUMENT.replace('version', 'at'))).not.toBe(query({}))
})

it('ROOM-173 counts a variable of a directive on the root field, and looks through fragments at the root', () => {
  const query = sharer()
  const skipping = DOCUMENT.replace('connectionId: $connection)', 'connectionId: $connection) @skip(if: $titles)')
  expect(query({ titles: false }, skipping)).not.toBe(query({}, skipping))
  const inline = DOCUMENT.replace('  roomEvents(', '  ... on Subscription { roomEvents(').replace(/\}$/, '} }')
  expect(query({ connection: 'b' }, inline)).toBe(query({}, inline))
  const spread = `${DOCUMENT.replace(/\{\n {2}roomEvents[\s\S]*$/, '{ ...Root }')} fragment Root on Subscription { roomEvents(roomId: $roomId, connectionId: $connection) { version } }`
  expect(query({ connection: 'b' }, spread)).toBe(query({}, spread))
})
