import { builder } from '../../graphql/builder.ts'
import { VERSION } from '../../lib/version.ts'

const ServerInfoType = builder.objectRef<{ version: string }>('ServerInfo').implement({
  description: 'What anybody may know of this server.',
  fields: (t) => ({
    version: t.exposeString('version', { description: 'Of the product, such as `0.1.0`.' }),
  }),
})

builder.queryField('serverInfo', (t) =>
  t.field({
    type: ServerInfoType,
    description: 'The server that answers.',
    authScopes: { needs: 'anyone' },
    resolve: () => ({ version: VERSION }),
  }),
)
