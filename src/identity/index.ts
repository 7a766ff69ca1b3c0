import './org/graphql.ts'
import './session/graphql.ts'
import './user/graphql.ts'
import './viewer/graphql.ts'

export {
  type MemberRoleChanged,
  type MembershipRevoked,
  onMemberRoleChanged,
  onMembershipRevoked,
  onOrgPurgeStep,
  onUserErased,
} from './hooks.ts'
export { createUser } from './membership/create-user.ts'
export { revokeMembership } from './membership/revoke-membership.ts'
export { ROLES, type Role } from './membership/role.ts'
export { setMemberRole } from './membership/set-member-role.ts'
export { createOrgAsOperator } from './org/create-org.ts'
export { recheckCallers, refreshCaller } from './recheck-callers.ts'
export { type Authenticated, authenticate } from './session/authenticate.ts'
export { CSRF_COOKIE, clearSessionCookies, sessionCookieName } from './session/cookies.ts'
export type { Held } from './session/recheck-sessions.ts'
export { csrfMatches } from './session/token.ts'
export { touchSession } from './session/touch-session.ts'
export { configureIdentity } from './settings.ts'
export { identitySweeps } from './sweeps.ts'
export { userById } from './user/loads.ts'
export { ViewerType } from './viewer/viewer-type.ts'
