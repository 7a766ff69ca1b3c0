import { GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { operation } from '../../db/operation.ts'
import type { Caller } from '../../graphql/caller.ts'
import type { Audience } from '../../graphql/context.ts'
import { recheckSessions } from '../../identity/index.ts'
import { newId } from '../../lib/type-id.ts'
import type { Sink } from '../../live/direct-stream.ts'
import type { RoomEvent } from './event-payloads.ts'
import { type Head, presentUserIds, REPLAY_MAX, readHead } from './read-room.ts'
import { type Ask, type Mask, Moment } from './rendering.ts'
import { Unreadable, UnreadableError } from './unreadable.ts'

const PRESENCE_EVERY = 250
const RETRY_AFTER = 500

export type Member = {
  /** As read for the last pull; renderings of one's own go by it. */
  caller: Caller
  readonly ask: Ask
  readonly sink: Sink
  /** The version the peer has; null: it starts, or starts again, with a snapshot. */
  sent: bigint | null
  /** A member whose peer lags takes nothing until it has caught up with what is on its way. */
  lagging: boolean
  readonly failed: string
}

/**
 * The streams of one room in this process, all of members or all of guests. Everything happens in turn: a pull reads
 * state, events and access in one snapshot and sends each member what comes after the version it has. So nothing is
 * skipped, nothing doubled, and the database is asked once however many listen (ROOM-170 to 175).
 */
export class Channel {
  readonly audience: Audience
  /** The greatest version that this channel has seen. */
  version = 0n
  readonly #members = new Set<Member>()
  /** Who each member believes is present; absent: as their last snapshot said, or not told yet. */
  readonly #told = new WeakMap<Member, string>()
  readonly #unreadable = new Unreadable()
  readonly #mask: Mask
  readonly #log: Logger
  #pulling: Promise<void> | undefined
  #again = false
  #presenceTimer: NodeJS.Timeout | undefined
  #presenceDue = false

  constructor(audience: Audience, mask: Mask, log: Logger) {
    this.audience = audience
    this.#mask = mask
    this.#log = log
  }

  get size(): number {
    return this.#members.size
  }

  /** Attaches a member and brings it up to date: with what it missed since `sent`, or with a snapshot. */
  async add(member: Member): Promise<void> {
    this.#members.add(member)
    if (member.sent !== null) this.wakePresence() // it has no version, so no replay tells who came and went
    await this.wake()
  }

  remove(member: Member): void {
    this.#members.delete(member)
    if (this.#members.size === 0) clearTimeout(this.#presenceTimer)
  }

  /** Something may have changed. Calls while a pull runs are one more pull. */
  wake(): Promise<void> {
    if (this.#pulling) this.#again = true
    else this.#pulling = this.#pullAll()
    return this.#pulling
  }

  /** Who is present may have changed; told at most once in 250 ms (ROOM-53). */
  wakePresence(): void {
    this.#presenceTimer ??= setTimeout(() => {
      this.#presenceTimer = undefined
      this.#presenceDue = true
      void this.wake()
    }, PRESENCE_EVERY)
  }

  async #pullAll(): Promise<void> {
    do {
      this.#again = false
      try {
        await this.#pull()
        this.#unreadable.clear()
      } catch (error) {
        this.#recover(error)
      }
    } while (this.#again && this.#members.size > 0)
    this.#pulling = undefined // in the turn that looked, so that no call comes between
  }

  /**
   * The members keep their versions, so the next pull makes good what this one owed. What cannot be read at all keeps
   * nobody waiting: those who ask for it are told, and their streams end.
   */
  #recover(error: unknown): void {
    const cause = error instanceof UnreadableError ? error.cause : error
    this.#presenceDue = true
    this.#log.warn({ err: cause, roomId: this.audience.roomId }, 'a room’s streams could not be served')
    if (!(error instanceof UnreadableError && this.#unreadable.isHopeless(error))) {
      setTimeout(() => void this.wake(), RETRY_AFTER).unref()
      return
    }
    const told = new GraphQLError('', { originalError: cause as Error })
    const json = JSON.stringify(this.#mask({ errors: [told] }, newId()))
    for (const member of this.#members) if (member.ask === error.ask) this.#end(member, json)
    this.#again = true
  }

  async #pull(): Promise<void> {
    if (this.#members.size === 0) return
    await this.#refreshCallers()
    const { orgId, roomId, of } = this.audience
    const scope = of === 'guests' ? { orgId, roomId } : { orgId }
    await operation('read', scope, async () => {
      const members = this.#unreadable.inOrder(this.#members)
      const head = await readHead({
        orgId,
        roomId,
        after: this.#oldest(members),
        users: members.map(({ caller }) => caller.userId),
        guests: of === 'guests',
      })
      if (head.version === null) return this.#endAll()
      this.version = head.version

      const moment = new Moment(this.audience, this.#mask)
      const snapshot = this.#made('RoomSnapshot', head.version, {})
      for (const member of members) {
        if (!head.viewers.has(member.caller.userId)) this.#end(member)
        else if (!member.lagging && member.sent !== head.version) {
          await this.#deliver(member, eventsFor(member, head) ?? [snapshot], moment)
        }
      }
      if (this.#presenceDue) await this.#tellPresence(moment)
    })
  }

  /**
   * Who gets renderings of their own gets them by their standing as it is now: one statement for all of them (ID-2). A
   * session that ended is not waited for here; the stream registry ends its streams.
   */
  async #refreshCallers(): Promise<void> {
    const own = [...this.#members].filter(({ ask }) => ask.perViewer)
    const held = await recheckSessions(own.map(({ caller }) => caller.sessionId))
    for (const member of own) {
      const caller = held.get(member.caller.sessionId)?.caller
      if (caller?.standing) member.caller = caller
      else this.#end(member)
    }
  }

  /** From where stored events are needed: the least version that a member who can be replayed has. */
  #oldest(members: readonly Member[]): bigint {
    const versions = members.filter(({ sent, lagging }) => sent !== null && !lagging).map(({ sent }) => sent as bigint)
    const replayable = versions.filter((sent) => this.version - sent <= REPLAY_MAX)
    return replayable.toSorted((a, b) => (a < b ? -1 : 1))[0] ?? this.version
  }

  async #deliver(member: Member, events: readonly RoomEvent[], moment: Moment): Promise<void> {
    for (const event of events) {
      const frame = await moment.frame(member.ask, event, member.caller)
      if (!this.#members.has(member)) return // left while it was rendered
      if (!member.sink.send(frame)) return this.#lag(member)
      member.sent = event.version
      if (event.type === 'RoomSnapshot') this.#told.delete(member)
    }
  }

  /** Drops what a slow peer has not been sent; once it has taken the rest it gets a snapshot (ROOM-173). */
  #lag(member: Member): void {
    member.lagging = true
    member.sent = null
    void member.sink.drained().then(() => {
      member.lagging = false
      if (this.#members.has(member)) void this.wake()
    })
  }

  /** Tells whoever does not know it: since their last snapshot or their return it may have changed and changed back. */
  async #tellPresence(moment: Moment): Promise<void> {
    this.#presenceDue = false
    const userIds = await presentUserIds(this.audience.roomId)
    const present = userIds.join()
    const event = this.#made('PresenceChanged', null, { userIds })
    for (const member of this.#members) {
      if (member.lagging || member.sent === null || this.#told.get(member) === present) continue
      const frame = await moment.frame(member.ask, event, member.caller)
      if (!this.#members.has(member)) continue
      if (member.sink.send(frame)) this.#told.set(member, present)
      else this.#lag(member)
    }
  }

  #made<T extends 'RoomSnapshot' | 'RoomDeleted' | 'PresenceChanged'>(
    type: T,
    version: bigint | null,
    payload: RoomEvent<T>['payload'],
  ): RoomEvent {
    const { orgId, roomId } = this.audience
    return { type, orgId, roomId, version, at: new Date().toISOString(), actorId: null, payload } as RoomEvent
  }

  /** The stored events went with the room, so its end is told from here (ROOM-34). */
  async #endAll(): Promise<void> {
    const moment = new Moment(this.audience, this.#mask)
    for (const member of [...this.#members]) {
      const event = this.#made('RoomDeleted', (member.sent ?? this.version) + 1n, {})
      const frame = await moment.frame(member.ask, event, member.caller)
      this.remove(member)
      member.sink.send(frame)
      member.sink.end()
    }
  }

  #end(member: Member, json = member.failed): void {
    this.remove(member)
    member.sink.end(json)
  }
}

/** What the member has not seen, without a gap; null when only a snapshot can say it. */
function eventsFor({ sent }: Member, { version, events }: Head): RoomEvent[] | null {
  if (sent === null || version === null || sent > version) return null
  const missed = events.filter((event) => (event.version as bigint) > sent)
  const contiguous = missed.every((event, at) => event.version === sent + BigInt(at) + 1n)
  const complete = missed.length === Number(version - sent) && missed.length <= REPLAY_MAX
  return contiguous && complete ? missed : null
}
