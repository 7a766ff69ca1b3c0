import { GraphQLError } from 'graphql'
import type { Logger } from 'pino'
import { operation } from '../../db/operation.ts'
import { credentialId, meets, type UserCaller } from '../../graphql/caller.ts'
import type { Audience } from '../../graphql/context.ts'
import { recheckCallers } from '../../identity/index.ts'
import { newId } from '../../lib/type-id.ts'
import type { Sink } from '../../live/direct-stream.ts'
import { mentionsOf } from '../mention/asked.ts'
import type { RoomEvent } from './event-payloads.ts'
import { missedBy } from './missed.ts'
import { presentUserIds, REPLAY_MAX, type RoomRead, readRoom } from './read-room.ts'
import { Recent } from './recent.ts'
import { isOwn, type MaskResult, RenderPass } from './render-pass.ts'
import type { SharedQuery } from './shared-query.ts'
import { Unreadable, UnreadableError } from './unreadable.ts'

const PRESENCE_EVERY = 250
const RETRY_AFTER = 500

export type Follower = {
  /** As read for the last pull; renderings of one's own go by it. */
  caller: UserCaller
  readonly query: SharedQuery
  readonly sink: Sink
  /** The version the peer has; null: it starts, or starts again, with a snapshot. */
  sent: bigint | null
  /** A follower whose peer lags takes nothing until it has caught up with what is on its way. */
  lagging: boolean
  readonly failed: string
}

/**
 * The streams of one room in this process, all of members or all of guests. Everything happens in turn: a pull reads
 * state, events and access in one snapshot and sends each follower what comes after the version it has. So nothing is
 * skipped, nothing doubled, and the database is asked once however many listen (ROOM-170 to 175).
 */
export class Channel {
  readonly audience: Audience
  /** The greatest version that this channel has seen. */
  version = 0n
  readonly #followers = new Set<Follower>()
  /** Who each follower believes is present; absent: as their last snapshot said, or not told yet. */
  readonly #told = new WeakMap<Follower, string>()
  readonly #unreadable = new Unreadable()
  readonly #recent = new Recent()
  /** For whom alone something was rendered in the last pull. */
  #own = new Set<Follower>()
  readonly #mask: MaskResult
  readonly #log: Logger
  #pulling: Promise<void> | undefined
  #again = false
  #presenceTimer: NodeJS.Timeout | undefined
  #presenceDue = false
  #mentionsDue = false
  /** Which mentions each follower knows of, by their keys. */
  readonly #toldMentions = new WeakMap<Follower, ReadonlySet<string>>()
  /** Whose snapshot of this pull has all mentions that there are. */
  #shown = new Set<Follower>()

  constructor(audience: Audience, mask: MaskResult, log: Logger) {
    this.audience = audience
    this.#mask = mask
    this.#log = log
  }

  get size(): number {
    return this.#followers.size
  }

  /** Attaches a follower and brings it up to date: with what it missed since `sent`, or with a snapshot. */
  async add(follower: Follower): Promise<void> {
    this.#followers.add(follower)
    if (follower.sent !== null) {
      // These have no version, so no replay tells who came and went, and who asked for help meanwhile.
      this.#mentionsDue = true
      this.wakePresence()
    }
    if (!this.#catchUp(follower)) await this.wake()
  }

  /**
   * Brings a follower to where this channel is, by what was rendered for others; false where that does not reach. Its
   * access was looked at a moment ago, when it was attached. What this channel does not know yet comes with the next pull.
   */
  #catchUp(follower: Follower): boolean {
    const { query, sink, sent } = follower
    if (sent === null || this.version === 0n || sent > this.version || this.version - sent > REPLAY_MAX) return false
    const frames = this.#recent.between(query, sent, this.version)
    if (!frames) return false
    for (const [at, frame] of frames.entries()) {
      if (!sink.send(frame)) {
        this.#lag(follower)
        break
      }
      follower.sent = sent + BigInt(at) + 1n
    }
    return true
  }

  remove(follower: Follower): void {
    this.#followers.delete(follower)
    this.#own.delete(follower)
    if (this.#followers.size === 0) clearTimeout(this.#presenceTimer)
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

  /** Somebody may have asked somebody for help: told to their streams alone, as it is read then (ROOM-108, PLAT-27). */
  wakeMentions(): void {
    this.#mentionsDue = true
    void this.wake()
  }

  async #pullAll(): Promise<void> {
    do {
      this.#again = false
      try {
        await this.#pull()
        this.#unreadable.clear()
        this.#again ||= this.#hasLatecomers()
      } catch (error) {
        this.#recover(error)
      }
    } while (this.#again && this.#followers.size > 0)
    this.#pulling = undefined // in the turn that looked, so that no call comes between
  }

  /**
   * The followers keep their versions, so the next pull makes good what this one owed. What cannot be read at all keeps
   * nobody waiting: those who ask for it are told, and their streams end.
   */
  #recover(error: unknown): void {
    const cause = error instanceof UnreadableError ? error.cause : error
    this.#presenceDue = true
    this.#mentionsDue = true
    this.#log.warn({ err: cause, roomId: this.audience.roomId }, 'a room’s streams could not be served')
    if (!(error instanceof UnreadableError && this.#unreadable.isHopeless(error))) {
      setTimeout(() => void this.wake(), RETRY_AFTER).unref()
      return
    }
    const told = new GraphQLError('', { originalError: cause as Error })
    const json = JSON.stringify(this.#mask({ errors: [told] }, newId()))
    for (const follower of this.#followers) if (follower.query === error.query) this.#end(follower, json)
    this.#again = true
  }

  /** Whether somebody caught up with where this channel was before the pull, and the pull did not know them. */
  #hasLatecomers(): boolean {
    for (const { sent, lagging } of this.#followers) if (!lagging && sent !== this.version) return true
    return false
  }

  /** Reads and sends, once more for those whose standing is to be known first. */
  async #pull(): Promise<void> {
    const fresh = new Set<Follower>()
    const waiting = this.#own // whom the last pull rendered for alone this one probably will too
    this.#own = new Set()
    do {
      await this.#refreshCallers(waiting)
      for (const follower of waiting) fresh.add(follower)
      waiting.clear()
      if (this.#followers.size > 0) await this.#readAndSend(fresh, waiting)
    } while (waiting.size > 0)
  }

  async #readAndSend(fresh: ReadonlySet<Follower>, waiting: Set<Follower>): Promise<void> {
    const { orgId, roomId, of } = this.audience
    const scope = of === 'guests' ? { orgId, roomId } : { orgId }
    this.#shown = new Set()
    await operation('read', scope, async () => {
      const followers = this.#unreadable.inOrder(this.#followers)
      const read = await readRoom({
        orgId,
        roomId,
        after: this.#oldest(followers),
        users: [...new Set(followers.map(({ caller }) => caller.userId))],
        guests: of === 'guests',
      })
      if (read.version === null) return this.#endAll()
      this.version = read.version

      const pass = new RenderPass(this.audience, this.#mask)
      const snapshot = this.#made('RoomSnapshot', read.version, {})
      const missedSince = missedBy(read)
      for (const follower of followers) {
        if (!read.viewers.has(follower.caller.userId)) this.#end(follower)
        else if (!follower.lagging && follower.sent !== read.version) {
          const events = missedSince(follower.sent) ?? [snapshot]
          if (this.#mustRefresh(follower, events, fresh)) waiting.add(follower)
          else {
            const rendering = this.#deliver(follower, events, pass)
            if (rendering) await rendering
          }
        }
      }
      if (this.#mayHaveMentions(read)) await this.#tellMentions(pass, fresh, waiting)
      if (this.#presenceDue && waiting.size === 0) await this.#tellPresence(pass, fresh, waiting)
    })
  }

  /** Whether something is due that is rendered for this follower alone, whose standing is as old as the last time. */
  #mustRefresh(follower: Follower, events: readonly RoomEvent[], fresh: ReadonlySet<Follower>): boolean {
    if (!follower.query.perViewer || !events.some((event) => isOwn(follower.query, event))) return false
    this.#own.add(follower)
    return !fresh.has(follower)
  }

  /**
   * Who gets renderings of their own gets them by their standing as it is now: one statement for all of them (ID-2). A
   * credential that ended is not waited for here; the stream registry ends its streams.
   */
  async #refreshCallers(followers: ReadonlySet<Follower>): Promise<void> {
    const own = [...followers].filter((follower) => this.#followers.has(follower))
    const held = await recheckCallers(own.map(({ caller }) => caller))
    for (const follower of own) {
      const caller = held.get(credentialId(follower.caller))?.caller
      if (caller && meets('user', caller)) follower.caller = caller
      else this.#end(follower)
    }
  }

  /** From where stored events are needed: the least version that a follower who can be replayed has. */
  #oldest(followers: readonly Follower[]): bigint {
    let oldest = this.version
    for (const { sent, lagging } of followers) {
      if (sent !== null && !lagging && sent < oldest && this.version - sent <= REPLAY_MAX) oldest = sent
    }
    return oldest
  }

  /** At once while the frames are there, which is so for all but the first who ask; otherwise a promise of the rest. */
  #deliver(follower: Follower, events: readonly RoomEvent[], pass: RenderPass): Promise<void> | undefined {
    for (const [at, event] of events.entries()) {
      const frame = pass.rendered(follower.query, event)
      if (frame === undefined) return this.#renderAndDeliver(follower, events.slice(at), pass)
      if (!this.#send(follower, event, frame)) return undefined
    }
    return undefined
  }

  async #renderAndDeliver(follower: Follower, events: readonly RoomEvent[], pass: RenderPass): Promise<void> {
    for (const event of events) {
      const frame = await pass.frame(follower.query, event, follower.caller)
      if (event.type !== 'RoomSnapshot' && event.version !== null && !isOwn(follower.query, event)) {
        this.#recent.keep(follower.query, event.version, frame)
      }
      if (!this.#followers.has(follower)) return // left while it was rendered
      if (!this.#send(follower, event, frame)) return
    }
  }

  #send(follower: Follower, event: RoomEvent, frame: string): boolean {
    const taken = follower.sink.send(frame)
    if (!taken) this.#lag(follower)
    else {
      follower.sent = event.version
      if (event.type === 'RoomSnapshot') {
        this.#told.delete(follower)
        this.#shown.add(follower)
      }
    }
    return taken
  }

  /** Drops what a slow peer has not been sent; once it has taken the rest it gets a snapshot (ROOM-173). */
  #lag(follower: Follower): void {
    follower.lagging = true
    follower.sent = null
    void follower.sink.drained().then(() => {
      follower.lagging = false
      if (this.#followers.has(follower)) void this.wake()
    })
  }

  /** Tells whoever does not know it: since their last snapshot or their return it may have changed and changed back. */
  async #tellPresence(pass: RenderPass, fresh: ReadonlySet<Follower>, waiting: Set<Follower>): Promise<void> {
    this.#presenceDue = false
    const userIds = await presentUserIds(this.audience.roomId)
    const present = userIds.join()
    const event = this.#made('PresenceChanged', null, { userIds })
    for (const follower of this.#followers) {
      if (follower.lagging || follower.sent === null || this.#told.get(follower) === present) continue
      if (this.#mustRefresh(follower, [event], fresh)) {
        waiting.add(follower)
        this.#presenceDue = true
        continue
      }
      const frame = await pass.frame(follower.query, event, follower.caller)
      if (!this.#followers.has(follower)) continue
      if (follower.sink.send(frame)) this.#told.set(follower, present)
      else this.#lag(follower)
    }
  }

  /** People ask for help in standups alone, and guests are not asked (ROOM-107). */
  #mayHaveMentions({ kind }: RoomRead): boolean {
    return kind === 'standup' && this.audience.of === 'members' && (this.#mentionsDue || this.#shown.size > 0)
  }

  /**
   * One statement for all of them. A stream that lags or begins passes it by: the snapshot that it gets is of the same
   * commit and has them. Of a stream that came back with a version nobody knows what it was told.
   */
  async #tellMentions(pass: RenderPass, fresh: ReadonlySet<Follower>, waiting: Set<Follower>): Promise<void> {
    this.#mentionsDue = false
    const shown = this.#shown
    this.#shown = new Set()
    const told = [...this.#followers].filter(({ lagging, sent }) => !lagging && sent !== null)
    const mentions = await mentionsOf(this.audience.roomId, [...new Set(told.map(({ caller }) => caller.userId))])
    const events = new Map(
      mentions.map((mention) => [mention, this.#made('MentionReceived', null, { fromUserId: mention.from })]),
    )
    const byAsked = Map.groupBy(mentions, ({ to }) => to)
    for (const follower of told) {
      const mine = byAsked.get(follower.caller.userId) ?? []
      const known = this.#toldMentions.get(follower)
      const news = shown.has(follower) ? [] : mine.filter(({ key }) => !known?.has(key)).map((one) => events.get(one)!)
      if (this.#mustRefresh(follower, news, fresh)) {
        waiting.add(follower)
        this.#mentionsDue = true
      } else if (await this.#sendUnversioned(follower, news, pass)) {
        this.#toldMentions.set(follower, new Set(mine.map(({ key }) => key)))
      }
    }
  }

  async #sendUnversioned(follower: Follower, events: readonly RoomEvent[], pass: RenderPass): Promise<boolean> {
    for (const event of events) {
      const frame = await pass.frame(follower.query, event, follower.caller)
      if (!this.#followers.has(follower)) return false
      if (!follower.sink.send(frame)) {
        this.#lag(follower)
        return false
      }
    }
    return true
  }

  #made<T extends 'RoomSnapshot' | 'RoomDeleted' | 'PresenceChanged' | 'MentionReceived'>(
    type: T,
    version: bigint | null,
    payload: RoomEvent<T>['payload'],
  ): RoomEvent {
    const { orgId, roomId } = this.audience
    return { type, orgId, roomId, version, at: new Date().toISOString(), actorId: null, payload } as RoomEvent
  }

  /** The stored events went with the room, so its end is told from here (ROOM-34). */
  async #endAll(): Promise<void> {
    const pass = new RenderPass(this.audience, this.#mask)
    for (const follower of [...this.#followers]) {
      const event = this.#made('RoomDeleted', (follower.sent ?? this.version) + 1n, {})
      const frame = await pass.frame(follower.query, event, follower.caller)
      this.remove(follower)
      follower.sink.send(frame)
      follower.sink.end()
    }
  }

  #end(follower: Follower, json = follower.failed): void {
    this.remove(follower)
    follower.sink.end(json)
  }
}
