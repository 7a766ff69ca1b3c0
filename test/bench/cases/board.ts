import { encodeId } from '../../../src/graphql/ids.ts'
import { type Fixtures, STORIES } from '../fixtures.ts'
import { readCase } from './read-case.ts'

const ROOMS = 10
const DOCUMENT = `query Board($id: ID!) {
  space(id: $id) { name rooms(first: ${ROOMS}) { nodes { title poker { stories { title estimate } } } } }
}`
const OF_POSTGRAPHILE = `query Board($org: UUID!, $id: PlatformUuid7!) {
  space: spaceByOrgIdAndRowId(orgId: $org, rowId: $id) {
    name
    rooms: roomsByOrgIdAndSpaceId(first: ${ROOMS}, orderBy: [CREATED_AT_DESC, ROW_ID_DESC]) {
      nodes { title poker: storiesByOrgIdAndRoomId(orderBy: [POSITION_ASC]) { stories: nodes { title estimate } } }
    }
  }
}`

const answer = ({ spaceName }: Fixtures) => ({
  space: {
    name: spaceName,
    rooms: {
      nodes: Array.from({ length: ROOMS }, () => ({
        title: 'Planning',
        poker: { stories: STORIES.map((title) => ({ title, estimate: null })) },
      })),
    },
  },
})

/** What a board asks: a space, its columns, the cards of each. */
export const board = readCase({
  name: 'board',
  title: 'a board: a space, 10 rooms, their stories',
  document: DOCUMENT,
  variables: ({ spaceId }) => ({ id: encodeId('Space', spaceId) }),
  path: '/board',
  asked: ({ spaceId }) => ({ id: spaceId }),
  data: answer,
  postgraphile: {
    document: OF_POSTGRAPHILE,
    variables: ({ orgId, spaceId }) => ({ org: orgId, id: spaceId }),
    data: answer,
  },
})
