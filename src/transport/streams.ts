import type { Logger } from 'pino'
import { actorId, type Caller, credentialId, meets, type Need } from '../graphql/caller.ts'
import { requestError } from '../graphql/request-errors.ts'
import type { Held } from '../identity/index.ts'
import { streamsRefused } from '../lib/metrics.ts'
import type { Bus } from '../live/bus.ts'
import type { IdentityHint } from '../live/hints.ts'
import { outside } from '../live/outside.ts'

/** Why the server ends a stream: the sign-in is over, its holder may no longer, the process stops (PLAT-33, 74). */
export type EndReason = 'credential' | 'standing' | 'shutdown'

export type Stream = {
  /** A socket carries streams; both are ended, the socket first. */
  readonly kind: 'socket' | 'stream'
  readonly caller: Caller
  /** What its caller must keep reaching; the finer rules are looked at with each event. */
  readonly need: Need
  /** Ends it at once; nothing may be delivered afterwards. */
  end(reason: EndReason): void
}

export type Registration = {
  /** The credential was used, so it holds until then. */
  heldUntil(endsAt: Date): void
  release(): void
}

export type StreamsOptions = {
  bus: Bus
  /** Which of these callers' credentials still hold, by credential, in a statement a kind; the others are missing. */
  recheck(callers: readonly Caller[]): Promise<ReadonlyMap<string, Held>>
  limits: { sockets: number; streams: number }
  log: Pick<Logger, 'warn'>
}

/** All streams of one session or key, which stand and fall together. */
type Group = { caller: Caller; readonly streams: Set<Stream>; timer: NodeJS.Timeout | undefined }

const BATCH = 1_000
const RETRY = 250
const TIMER_MAX = 86_400_000

/**
 * Every open socket and stream of this process. A hint or a doubt makes it read the standing of the credentials concerned
 * again, and it ends those that lost theirs within a second (PLAT-33).
 */
export class Streams {
  readonly #options: StreamsOptions
  readonly #groups = new Map<string, Group>()
  readonly #counts = new Map<string, number>()
  readonly #due = new Set<string>()
  readonly #unfollow: (() => void)[]
  #checking = false
  #draining = false

  constructor(options: StreamsOptions) {
    this.#options = options
    this.#unfollow = [
      options.bus.subscribe({ channel: 'identity' }, (hint) => this.#concern(hint)),
      options.bus.onDoubt(() => this.#recheckWhere(() => true)),
    ]
  }

  get figures(): { sockets: number; streams: number } {
    const figures = { sockets: 0, streams: 0 }
    for (const { streams } of this.#groups.values()) {
      for (const { kind } of streams) figures[`${kind}s`] += 1
    }
    return figures
  }

  get draining(): boolean {
    return this.#draining
  }

  /**
   * Takes a stream into the books and checks its credential once more: what happened between its authentication and now
   * would be missed. Throws RATE_LIMITED over the bounds of PLAT-34.
   *
   * Those bounds are of this process, since it is its memory that sockets and streams take. A count shared by all would
   * have to be leased, and whom a killed process leaves counted would be refused just when all of them come back.
   */
  register(stream: Stream): Registration {
    if (this.#draining) throw requestError('SHUTTING_DOWN')
    const { caller, kind } = stream
    const actor = `${kind}:${actorId(caller)}`
    const count = this.#counts.get(actor) ?? 0
    if (count >= this.#options.limits[`${kind}s`]) {
      streamsRefused.inc({ bound: `${kind}s` })
      throw requestError('RATE_LIMITED', { message: `Too many open ${kind}s; close one first.` })
    }
    this.#counts.set(actor, count + 1)

    const credential = credentialId(caller)
    const group = this.#groups.get(credential) ?? { caller, streams: new Set<Stream>(), timer: undefined }
    this.#groups.set(credential, group)
    group.caller = caller
    group.streams.add(stream)
    this.#recheck(credential)
    return {
      heldUntil: (endsAt) => {
        if (group.streams.size > 0) this.#arm(group, endsAt)
      },
      release: () => this.#release(group, stream),
    }
  }

  endWhere(concerned: (stream: Stream) => boolean, reason: EndReason): void {
    for (const group of [...this.#groups.values()]) {
      for (const stream of [...group.streams]) if (concerned(stream)) this.#end(group, stream, reason)
    }
  }

  /** Completes every stream and takes no more. Sockets stay for what runs on them; their transport closes them. */
  drain(): void {
    this.#draining = true
    this.endWhere(({ kind }) => kind === 'stream', 'shutdown')
  }

  close(): void {
    this.#draining = true
    for (const unfollow of this.#unfollow) unfollow()
    this.endWhere(() => true, 'shutdown')
  }

  #concern({ type, id, orgId }: IdentityHint): void {
    if (type === 'session' || type === 'key') this.#recheckWhere((caller) => credentialId(caller) === id)
    if (type === 'user' || type === 'agent') this.#recheckWhere(({ userId }) => userId === id)
    if (type === 'member') this.#recheckWhere((caller) => caller.userId === id && caller.orgId === orgId)
    if (type === 'org') this.#recheckWhere((caller) => caller.orgId === id)
    if (type === 'link') this.#recheckWhere((caller) => caller.account === 'guest' && caller.orgId === orgId)
  }

  #recheckWhere(concerned: (caller: Caller) => boolean): void {
    for (const [credential, { caller }] of this.#groups) if (concerned(caller)) this.#recheck(credential)
  }

  #recheck(credential: string): void {
    this.#due.add(credential)
    if (this.#checking) return
    this.#checking = true
    // Those that come due in one turn are one statement. Nobody's operation: the check is on all of them.
    outside(() => setImmediate(() => void this.#check()))
  }

  async #check(): Promise<void> {
    while (this.#due.size > 0) {
      const batch = [...this.#due].filter((id) => this.#groups.has(id)).slice(0, BATCH)
      for (const id of batch) this.#due.delete(id)
      if (batch.length === 0) this.#due.clear()
      try {
        const callers = batch.map((id) => this.#groups.get(id)!.caller)
        const held = batch.length > 0 ? await this.#options.recheck(callers) : new Map<string, Held>()
        for (const id of batch) this.#judge(id, held.get(id))
      } catch (error) {
        // Not known is not revoked; without the database nothing is delivered either.
        this.#options.log.warn({ err: error, credentials: batch.length }, 'standing of streams could not be checked')
        for (const id of batch) this.#due.add(id)
        await new Promise((resolve) => setTimeout(resolve, RETRY))
      }
    }
    this.#checking = false
  }

  #judge(credential: string, held: Held | undefined): void {
    const group = this.#groups.get(credential)
    if (!group) return
    for (const stream of [...group.streams]) {
      if (!held) this.#end(group, stream, 'credential')
      else if (!stillReaches(stream, held.caller)) this.#end(group, stream, 'standing')
    }
    if (held?.endsAt && group.streams.size > 0) this.#arm(group, held.endsAt)
  }

  /** When the credential should have ended the database is asked: it may have been used meanwhile, and its clock counts. */
  #arm(group: Group, endsAt: Date): void {
    clearTimeout(group.timer)
    const wait = Math.min(TIMER_MAX, Math.max(RETRY, endsAt.getTime() - Date.now() + 1))
    group.timer = setTimeout(() => this.#recheck(credentialId(group.caller)), wait)
  }

  #end(group: Group, stream: Stream, reason: EndReason): void {
    this.#release(group, stream)
    stream.end(reason)
  }

  #release(group: Group, stream: Stream): void {
    if (!group.streams.delete(stream)) return
    const actor = `${stream.kind}:${actorId(stream.caller)}`
    const count = (this.#counts.get(actor) ?? 1) - 1
    if (count > 0) this.#counts.set(actor, count)
    else this.#counts.delete(actor)
    if (group.streams.size > 0) return
    clearTimeout(group.timer)
    const credential = credentialId(stream.caller)
    if (this.#groups.get(credential) === group) this.#groups.delete(credential)
  }
}

/** A stream is of one person in one place: a session that moved to another org is another caller. */
export function stillReaches({ caller, need }: Pick<Stream, 'caller' | 'need'>, now: Caller): boolean {
  if (now.standing === null || !meets(need, now)) return false
  return now.orgId === caller.orgId && now.userId === caller.userId && now.roomId === caller.roomId
}
