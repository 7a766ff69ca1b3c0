import type { Logger } from 'pino'
import { operation } from '../../db/operation.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { type Audience, scopeOf } from '../../graphql/context.ts'
import type { Bus } from '../../live/bus.ts'
import { attachToRoom, refreshPresence } from '../room/presence.ts'
import { Channel, type Follower } from './channel.ts'
import { versionsOf } from './read-room.ts'
import type { MaskResult } from './render-pass.ts'
import { SharedQueries, type SharedQuery } from './shared-query.ts'

/** A NOTIFY that was lost delays a room by this much at most. */
const POLL_EVERY = 1_000
const KEEP_ALIVE_EVERY = 15_000

/** A connection that nobody else keeps alive, because the client gave it no name. */
export type Presence = { caller: UserCaller; roomId: string; connectionId: string }

/** All room streams of this process. */
export class RoomHub {
  readonly #channels = new Map<string, Channel>()
  readonly #following = new Map<string, () => void>()
  readonly #presences = new Set<Presence>()
  readonly #queries = new SharedQueries()
  readonly #bus: Bus
  readonly #mask: MaskResult
  readonly #log: Logger
  readonly #stop: (() => void)[]

  constructor(bus: Bus, mask: MaskResult, log: Logger) {
    this.#bus = bus
    this.#mask = mask
    this.#log = log
    const poll = setInterval(() => void this.#poll(), POLL_EVERY).unref()
    const keepAlive = setInterval(() => void this.#keepAlive(), KEEP_ALIVE_EVERY).unref()
    this.#stop = [() => clearInterval(poll), () => clearInterval(keepAlive), bus.onDoubt(() => this.#wakeAll())]
  }

  /** Streams that are attached, for tests and metrics. */
  get size(): number {
    return [...this.#channels.values()].reduce((sum, { size }) => sum + size, 0)
  }

  async add(audience: Audience, follower: Follower): Promise<void> {
    const key = keyOf(audience)
    let channel = this.#channels.get(key)
    if (!channel) {
      channel = new Channel(audience, this.#mask, this.#log)
      this.#channels.set(key, channel)
      this.#following.set(key, this.#follow(audience, channel))
    }
    await channel.add(follower)
  }

  remove(audience: Audience, follower: Follower): void {
    const key = keyOf(audience)
    const channel = this.#channels.get(key)
    channel?.remove(follower)
    if (channel?.size !== 0) return
    this.#channels.delete(key)
    this.#following.get(key)?.()
    this.#following.delete(key)
  }

  /** The one object for equal queries, so that their renderings are found to be the same. */
  sharedQuery(asked: Omit<SharedQuery, 'perViewer'>): SharedQuery {
    return this.#queries.of(asked)
  }

  keepAlive(presence: Presence): () => void {
    this.#presences.add(presence)
    return () => this.#presences.delete(presence)
  }

  close(): void {
    for (const stop of this.#stop) stop()
    for (const unfollow of this.#following.values()) unfollow()
    this.#following.clear()
    this.#channels.clear()
  }

  #follow({ orgId, roomId }: Audience, channel: Channel): () => void {
    return this.#bus.subscribe({ channel: 'rooms', orgId, roomId }, ({ presence, mention }) => {
      if (presence) channel.wakePresence()
      else if (mention) channel.wakeMentions()
      else void channel.wake()
    })
  }

  #wakeAll(): void {
    for (const channel of this.#channels.values()) {
      channel.wakeMentions() // and all else
      channel.wakePresence()
    }
  }

  /** One statement an org, and only rooms that moved on are read. */
  async #poll(): Promise<void> {
    for (const [orgId, channels] of groupByOrg(this.#channels.values())) {
      try {
        const ids = channels.map(({ audience }) => audience.roomId)
        const versions = await operation('read', { orgId }, () => versionsOf(orgId, ids))
        for (const channel of channels)
          if (versions.get(channel.audience.roomId) !== channel.version) void channel.wake()
      } catch (error) {
        this.#log.warn({ err: error, orgId }, 'rooms could not be polled')
      }
    }
  }

  async #keepAlive(): Promise<void> {
    for (const [orgId, presences] of Map.groupBy(this.#presences, ({ caller }) => caller.orgId)) {
      await this.#refresh(orgId, presences).catch((error: unknown) =>
        this.#log.warn({ err: error, orgId }, 'presence could not be refreshed'),
      )
    }
  }

  /** One statement an org; who was counted as gone meanwhile comes back. */
  async #refresh(orgId: string, presences: readonly Presence[]): Promise<void> {
    const ids = presences.map(({ connectionId }) => connectionId)
    const gone = new Set(await operation('write', { orgId }, () => refreshPresence(orgId, ids)))
    for (const presence of presences) {
      if (!gone.has(presence.connectionId) || !this.#presences.has(presence)) continue
      const { caller, roomId, connectionId } = presence
      await operation('write', scopeOf(caller), () => attachToRoom(caller, roomId, connectionId)).catch(() => {
        // Not theirs any more: the channel ends the stream with its next look.
      })
    }
  }
}

const keyOf = ({ orgId, roomId, of }: Audience) => `${orgId} ${roomId} ${of}`
const groupByOrg = (channels: Iterable<Channel>) => Map.groupBy(channels, ({ audience }) => audience.orgId)
