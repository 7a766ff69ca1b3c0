import { encodeId } from '../../../src/graphql/ids.ts'
import type { Fixtures } from '../fixtures.ts'
import { readCase } from './read-case.ts'

const FIRST = 50
const DOCUMENT = `query Members($id: ID!) {
  space(id: $id) { members(first: ${FIRST}) { nodes { role user { displayName } } } }
}`
const OF_POSTGRAPHILE = `query Members($org: UUID!, $id: PlatformUuid7!) {
  space: spaceByOrgIdAndRowId(orgId: $org, rowId: $id) {
    members: spaceMembersByOrgIdAndSpaceId(first: ${FIRST}) { nodes { role user: identityUserByUserId { displayName } } }
  }
}`

/** People's ids are in the order they joined, so both orders are the same. */
const answer = ({ people }: Fixtures, role: (text: string) => string) => ({
  space: {
    members: {
      nodes: people.slice(0, FIRST).map(({ displayName }, at) => ({
        role: role(at === 0 ? 'owner' : 'member'),
        user: { displayName },
      })),
    },
  },
})

export const list = readCase({
  name: 'list',
  title: 'a list of 50 with one relation',
  document: DOCUMENT,
  variables: ({ spaceId }) => ({ id: encodeId('Space', spaceId) }),
  path: '/list',
  asked: ({ spaceId }) => ({ id: spaceId }),
  data: (fixtures) => answer(fixtures, (role) => role.toUpperCase()),
  postgraphile: {
    document: OF_POSTGRAPHILE,
    variables: ({ orgId, spaceId }) => ({ org: orgId, id: spaceId }),
    data: (fixtures) => answer(fixtures, (role) => role),
  },
  targets: { plainPg: 0.25, postgraphile: 1 },
})
