import { encodeId } from '../../../src/graphql/ids.ts'
import { readCase } from './read-case.ts'

const DOCUMENT = 'query Node($id: ID!) { node(id: $id) { ... on Space { slug name } } }'

export const node = readCase({
  name: 'node',
  title: 'a node by its id',
  document: DOCUMENT,
  variables: ({ spaceId }) => ({ id: encodeId('Space', spaceId) }),
  path: '/node',
  asked: ({ spaceId }) => ({ id: spaceId }),
  data: ({ spaceSlug, spaceName }) => ({ node: { slug: spaceSlug, name: spaceName } }),
  postgraphile: {
    document: `query Node($org: UUID!, $id: PlatformUuid7!) { node: spaceByOrgIdAndRowId(orgId: $org, rowId: $id) { slug name } }`,
    variables: ({ orgId, spaceId }) => ({ org: orgId, id: spaceId }),
    data: ({ spaceSlug, spaceName }) => ({ node: { slug: spaceSlug, name: spaceName } }),
  },
})
