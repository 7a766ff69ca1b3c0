/** How far a caller reaches in the active org (ID-2). */
export const STANDINGS = ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER', 'PARTICIPANT', 'GUEST', 'AGENT', 'ADMIN_KEY'] as const
export type Standing = (typeof STANDINGS)[number]

export const ACCOUNTS = ['registered', 'anonymous', 'guest', 'agent'] as const
export type Account = (typeof ACCOUNTS)[number]

/** What a key may be used for (ID-44); `admin` is the one scope of an admin key. */
export const KEY_SCOPES = [
  'gate:act',
  'gate:read',
  'work:read',
  'work:write',
  'rooms:read',
  'rooms:write',
  'admin',
] as const
export type KeyScope = (typeof KEY_SCOPES)[number]
/** What a root field asks of an agent's key. */
export type FieldScope = Exclude<KeyScope, 'admin'>

/** A person by a sign-in. */
export type SessionCaller = {
  readonly kind: 'session'
  readonly orgId: string
  readonly userId: string
  readonly sessionId: string
  readonly account: Account
  /** Null for a person without standing in the session's org: `viewer` and the end of the session remain. */
  readonly standing: Exclude<Standing, 'AGENT' | 'ADMIN_KEY'> | null
  /** A session of an embedded meeting client: participant power, whoever the person is (ID-4). */
  readonly embedded: boolean
  /** The one room a guest is held to. */
  readonly roomId?: string | undefined
  /** The session came in a cookie, which goes when the session is ended. */
  readonly byCookie?: boolean | undefined
}

/** Why an agent may do nothing for now although its key holds: what its calls are answered (ID-43, 58, 59). */
export type Halt = 'ORG_ARCHIVED' | 'ORG_STOPPED' | 'AGENT_STOPPED' | 'AGENT_SUSPENDED'

/** An agent by one of its keys. */
export type AgentCaller = {
  readonly kind: 'agent'
  readonly orgId: string
  /** The agent's own user. */
  readonly userId: string
  readonly keyId: string
  readonly account: 'agent'
  /** Null while it is halted. */
  readonly standing: 'AGENT' | null
  readonly halt: Halt | null
  readonly embedded: false
  readonly roomId?: undefined
  readonly name: string
  readonly scopes: readonly KeyScope[]
  /** `read` refuses every mutation but those that say otherwise (ID-44). */
  readonly mode: 'read' | 'write'
  readonly projectScope: 'all' | 'listed'
  readonly canEditGlobalWiki: boolean
  /** Requests a minute; null: as many as agents have by default (ID-47). */
  readonly rateLimit: number | null
}

/** An org's admin key: it acts in its own name and is nobody (ID-7). */
export type AdminKeyCaller = {
  readonly kind: 'admin_key'
  readonly orgId: string
  readonly userId?: undefined
  readonly keyId: string
  readonly account?: undefined
  readonly standing: 'ADMIN_KEY'
  readonly embedded: false
  readonly roomId?: undefined
  readonly scopes: readonly KeyScope[]
}

export type KeyCaller = AgentCaller | AdminKeyCaller
/** Somebody: whoever has a user. */
export type UserCaller = SessionCaller | AgentCaller
/** Who is calling, read from the database for this very operation (ID-2). */
export type Caller = SessionCaller | AgentCaller | AdminKeyCaller

/** What a caller is told apart by in limits and bounds: the person or agent, or the admin key. */
export const actorId = (caller: Caller): string => (caller.kind === 'admin_key' ? caller.keyId : caller.userId)

/** The session or key that the caller came with. */
export const credentialId = (caller: Caller): string => (caller.kind === 'session' ? caller.sessionId : caller.keyId)

const REACH = {
  /** Nobody signed in is fine too. */
  anyone: STANDINGS,
  /** Any principal, also one without standing in its org. */
  signedIn: STANDINGS,
  /** Anybody with standing; guests and participants reach rooms. */
  standing: STANDINGS,
  /** Anybody with standing who is somebody: people, guests and agents. */
  user: ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER', 'PARTICIPANT', 'GUEST', 'AGENT'],
  /** The same without agents: whoever has signed in. */
  human: ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER', 'PARTICIPANT', 'GUEST'],
  /** Everybody with standing but guests. */
  participant: ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER', 'PARTICIPANT', 'AGENT'],
  /** Reads the org's shared things. */
  viewer: ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER', 'AGENT', 'ADMIN_KEY'],
  /** Registered people of the org, whatever their role. */
  person: ['OWNER', 'ADMIN', 'MEMBER', 'VIEWER'],
  /** Registered people who write. */
  member: ['OWNER', 'ADMIN', 'MEMBER'],
  admin: ['OWNER', 'ADMIN', 'ADMIN_KEY'],
  /** What an admin does in person: admin keys, resuming (ID-6). */
  adminPerson: ['OWNER', 'ADMIN'],
  owner: ['OWNER'],
} as const satisfies Record<string, readonly Standing[]>

/** What a root field asks of its caller; the finer rules stand in `access.ts` of each aggregate. */
export type Need = keyof typeof REACH

/** The callers that meet a need. */
export type CallerWith<N extends Need> = N extends 'anyone'
  ? Caller | null
  : N extends 'signedIn'
    ? Caller
    : CallerOf<(typeof REACH)[N][number]>
type CallerOf<S extends Standing> =
  | (S extends 'AGENT' ? AgentCaller : never)
  | (S extends 'ADMIN_KEY' ? AdminKeyCaller : never)
  | (S extends 'AGENT' | 'ADMIN_KEY' ? never : SessionCaller)

export function meets<N extends Exclude<Need, 'anyone'>>(
  need: N,
  caller: Caller | null,
): caller is CallerWith<N> & Caller
export function meets(need: Need, caller: Caller | null): boolean
export function meets(need: Need, caller: Caller | null): boolean {
  if (need === 'anyone') return true
  if (!caller) return false
  if (need === 'signedIn') return true
  return caller.standing !== null && (REACH[need] as readonly Standing[]).includes(caller.standing)
}

/** Whether the caller's credential is good for it. What a person may is no matter of scopes, nor what an admin key may. */
export const hasScope = (scope: FieldScope, caller: Caller | null): boolean =>
  caller?.kind !== 'agent' || caller.scopes.includes(scope)
