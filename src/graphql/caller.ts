/** How far a caller reaches in the active org (ID-2). */
export const STANDINGS = ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER', 'PARTICIPANT', 'GUEST', 'AGENT', 'ADMIN_KEY'] as const
export type Standing = (typeof STANDINGS)[number]

export const ACCOUNTS = ['registered', 'anonymous', 'guest', 'agent'] as const
export type Account = (typeof ACCOUNTS)[number]

/** Who is calling, read from the database for this very operation (ID-2). */
export type Caller = {
  readonly kind: 'session'
  readonly orgId: string
  readonly userId: string
  readonly sessionId: string
  readonly account: Account
  /** Null for a person without standing in the session's org: `viewer` and the end of the session remain. */
  readonly standing: Standing | null
  /** A session of an embedded meeting client: participant power, whoever the person is (ID-4). */
  readonly embedded: boolean
  /** The one room a guest is held to. */
  readonly roomId?: string | undefined
  /** The session came in a cookie, which goes when the session is ended. */
  readonly byCookie?: boolean | undefined
}

const REACH = {
  /** Nobody signed in is fine too. */
  anyone: STANDINGS,
  /** Any principal, also one without standing in its org. */
  signedIn: STANDINGS,
  /** Anybody with standing; guests and participants reach rooms. */
  standing: STANDINGS,
  /** Everybody with standing but guests. */
  participant: ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER', 'PARTICIPANT', 'AGENT'],
  /** Reads the org's shared things. */
  viewer: ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER', 'AGENT', 'ADMIN_KEY'],
  /** Registered people of the org, whatever their role. */
  person: ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER'],
  /** Registered people who write. */
  member: ['OWNER', 'ADMIN', 'MEMBER'],
  admin: ['OWNER', 'ADMIN', 'ADMIN_KEY'],
} as const satisfies Record<string, readonly Standing[]>

/** What a root field asks of its caller; the finer rules stand in `access.ts` of each aggregate. */
export type Need = keyof typeof REACH

export function meets(need: Need, caller: Caller | null): boolean {
  if (need === 'anyone') return true
  if (!caller) return false
  if (need === 'signedIn') return true
  return caller.standing !== null && (REACH[need] as readonly Standing[]).includes(caller.standing)
}
