/**
 * Why a sign-in through the provider did not work, with the HTTP status of the page that says so and all that it says.
 * LINK_FIRST is said of every identity that is linked to nobody and cannot join, whether or not its email exists (ID-28).
 */
export const OIDC_FAULTS = {
  FLOW_LOST: [400, 'This sign-in was not begun in this browser, or it took too long. Begin again.'],
  DENIED: [403, 'The provider did not sign you in.'],
  PROVIDER_FAILED: [502, 'What the provider answered does not hold. Begin again.'],
  PROVIDER_UNREACHABLE: [503, 'The provider cannot be reached. Try again in a moment.'],
  LINK_FIRST: [409, 'Sign in first, then link.'],
  EMAIL_UNVERIFIED: [403, 'The provider does not vouch for an email of yours.'],
  SIGN_IN_FAILED: [403, 'That does not sign you in.'],
  SIGN_IN_AGAIN: [401, 'Sign in again, then link.'],
  IDENTITY_TAKEN: [409, 'This identity is linked to somebody else.'],
  ALREADY_LINKED: [409, 'Another identity is linked to you. Unlink it first.'],
} as const satisfies Record<string, readonly [status: number, sentence: string]>

export type OidcFaultCode = keyof typeof OIDC_FAULTS

export class OidcFault extends Error {
  override readonly name = 'OidcFault'
  readonly code: OidcFaultCode
  /** For the log; what the provider says in words is kept out of it. */
  readonly reason: string | undefined
  constructor(code: OidcFaultCode, reason?: string) {
    super(OIDC_FAULTS[code][1])
    this.code = code
    this.reason = reason
  }
}
