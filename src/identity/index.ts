import './org/graphql.ts'
import './user/graphql.ts'

export { type Authenticated, authenticate, type SessionLife } from './session/authenticate.ts'
export { csrfMatches } from './session/token.ts'
