import { encodeId } from '../../../src/graphql/ids.ts'
import { readCase } from './read-case.ts'

const FIRST = 50
const DOCUMENT = `query Members($id: ID!) {
  space(id: $id) { members(first: ${FIRST}) { nodes { role user { displayName } } } }
}`

export const list = readCase({
  name: 'list',
  title: 'a list of 50 with one relation',
  document: DOCUMENT,
  variables: ({ spaceId }) => ({ id: encodeId('Space', spaceId) }),
  path: '/list',
  asked: ({ spaceId }) => ({ id: spaceId }),
  data: ({ people }) => ({
    space: {
      members: {
        nodes: people.slice(0, FIRST).map(({ displayName }, at) => ({
          role: at === 0 ? 'OWNER' : 'MEMBER',
          user: { displayName },
        })),
      },
    },
  }),
  target: 0.19,
})
