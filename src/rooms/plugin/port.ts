import type { State } from './state.ts'

/** A kind that an install of a plugin declares. */
export type PluginKind = { readonly orgId: string; readonly installId: string; readonly kind: string }

/** What stays in the package and is needed when a room is made. */
export type KindSetup = {
  /** JSON Schema of the room's config. */
  readonly configSchema: unknown
  /** The state that a room begins with; nobody has a part of their own yet. */
  readonly initialState: unknown
}

/** What the plugin is told when somebody acts. Ids are those of the API, in `state.private` too. */
export type ActCall = {
  readonly orgId: string
  readonly installId: string
  readonly room: {
    readonly id: string
    readonly kind: string
    readonly title: string
    readonly phase: string
    /** Decimal text: it outgrows what JSON numbers hold. */
    readonly version: string
    readonly config: object
  }
  readonly action: string
  readonly input: unknown
  readonly actor: { readonly id: string; readonly role: 'host' | 'member' | 'guest'; readonly spectator: boolean }
  readonly participants: readonly { readonly id: string; readonly guest: boolean; readonly spectator: boolean }[]
  /** With the parts of those alone who are still of the room. */
  readonly state: State
}

/** What becomes of the room, where anything does; or why the plugin refuses. It is checked, so a plugin may say anything. */
export type ActAnswer =
  | { readonly state?: unknown; readonly phase?: unknown }
  | { readonly refused: { readonly code: 'invalid' | 'forbidden' | 'conflict'; readonly message: string } }

/**
 * What this body asks of whoever runs plugins. `kindSetup` and `enabledInstalls` are asked within an operation that is
 * open, a guest's too, and read through it; they call no plugin. `act` is called with none open.
 */
export type PluginKinds = {
  /** Null where the install has no such kind. */
  kindSetup(kind: PluginKind): Promise<KindSetup | null>
  /** Which of these installs are enabled and granted to have kinds of rooms. */
  enabledInstalls(orgId: string, installIds: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Throws what went wrong: a `PluginFaultError` says whether another try may help, any other error is one that does not.
   * What comes after the signal is ignored.
   */
  act(call: ActCall, signal: AbortSignal): Promise<ActAnswer>
  /** Milliseconds that a call may take, waiting included. Default: 1,000. */
  readonly answersWithin?: number
}

let port: PluginKinds | undefined

/** Called by whoever runs plugins. Without it no kind of theirs is offered, and none can be acted in. */
export function registerPluginKinds(kinds: PluginKinds): void {
  port = kinds
}

export const pluginKinds = (): PluginKinds | undefined => port

/** Which of these installs may have kinds of rooms now. */
export async function enabledInstalls(orgId: string, installIds: readonly string[]): Promise<ReadonlySet<string>> {
  return port && installIds.length > 0 ? port.enabledInstalls(orgId, installIds) : new Set()
}

export const isEnabled = async (orgId: string, installId: string | null): Promise<boolean> =>
  installId !== null && (await enabledInstalls(orgId, [installId])).has(installId)
