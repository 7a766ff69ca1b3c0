import { builder } from './graphql/builder.ts'
import './graphql/scalars.ts'
import './graphql/error-types.ts'
import './identity/index.ts'
import './platform/index.ts'
import './rooms/index.ts'

/** The whole API, composed of what each body has put into the builder. */
export const schema = builder.toSchema()
