import './agent/graphql.ts'
import './agent/mutations.ts'
import './membership/graphql.ts'
import './membership/mutations.ts'
import './embed/graphql.ts'
import './oidc/graphql.ts'
import './org/graphql.ts'
import './session/graphql.ts'
import './session/org-sessions.ts'
import './user/graphql.ts'
import './user/sight.ts'
import './viewer/graphql.ts'

export { usableIntentKey } from './agent/intent-key.ts'
export { registerProjectLookup } from './agent/projects.ts'
export { agentReach, mayEditGlobalWiki, type Reach, withinReach } from './agent/reach.ts'
export { useIntentNonce } from './agent/use-intent-nonce.ts'
export { flushKeyUse, noteKeyUse } from './api-key/key-use.ts'
export { rememberKeys } from './api-key/known-keys.ts'
export { requirePeppers } from './api-key/require-peppers.ts'
export { type Authenticated, authenticate } from './authenticate.ts'
export {
  type AgentBudgets,
  checkAgentBudgets,
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
export { updateMembership } from './membership/update-member.ts'
export { OIDC_FAULTS, OidcFault } from './oidc/fault.ts'
export { finishOidc } from './oidc/finish-oidc.ts'
export { flowCookieName } from './oidc/flow.ts'
export { isOidcOn } from './oidc/provider.ts'
export { startOidc } from './oidc/start-oidc.ts'
export { createOrgAsOperator } from './org/create-org.ts'
export { recordExport } from './org/record-export.ts'
export { recheckCallers, refreshCaller } from './recheck-callers.ts'
export { CSRF_COOKIE, clearSessionCookies, sessionCookieName } from './session/cookies.ts'
export { type Credentials, deliver, newCredentials } from './session/delivery.ts'
export { addGuestSession, createGuestSession, endLinkSessions, type GuestLink } from './session/guest-session.ts'
export type { Held } from './session/recheck-sessions.ts'
export { csrfMatches } from './session/token.ts'
export { touchSession } from './session/touch-session.ts'
export { configureIdentity } from './settings.ts'
export { openSignIn, signInSettled } from './sign-in/settings.ts'
export { identitySweeps } from './sweeps.ts'
export { userById } from './user/loads.ts'
export { ViewerType } from './viewer/viewer-type.ts'
