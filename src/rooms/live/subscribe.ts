import type { GraphQLSchema } from 'graphql'
import type { Logger } from 'pino'
import { operation } from '../../db/operation.ts'
import type { UserCaller } from '../../graphql/caller.ts'
import { type Audience, type Context, scopeOf } from '../../graphql/context.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { requireNeed } from '../../graphql/require-need.ts'
import { newId } from '../../lib/type-id.ts'
import type { Bus } from '../../live/bus.ts'
import { DirectStream, type Subscriber } from '../../live/direct-stream.ts'
import { attachToRoom, detachFromRoom } from '../room/presence.ts'
import type { Follower } from './channel.ts'
import { type Presence, RoomHub } from './hub.ts'
import type { MaskResult } from './render-pass.ts'

let hub: RoomHub | undefined
let log: Logger | undefined
/** Presence that is being ended; the pool must outlive it. */
const ending = new Set<Promise<void>>()

/** Called once at start; streams need the bus, and the masking of errors that the transport gives all answers. */
export function startRoomLive(options: { bus: Bus; mask: MaskResult; log: Logger }): {
  hub: RoomHub
  stop(): Promise<void>
} {
  const started = new RoomHub(options.bus, options.mask, options.log)
  hub = started
  log = options.log
  const stop = async () => {
    started.close()
    await Promise.all(ending)
  }
  return { hub: started, stop }
}

/** Room streams that this process serves. */
export const openRoomStreams = (): number => hub?.size ?? 0

type Args = { roomId: string; sinceVersion?: bigint | undefined; connectionId?: string | undefined }

/** Opens a stream: checks that the viewer may see the room, makes them present, and hands the stream to the transport. */
export async function subscribeToRoom(
  context: Context,
  { roomId, sinceVersion, connectionId }: Args,
  schema: GraphQLSchema,
): Promise<RoomStream> {
  const caller = requireNeed('user', context, 'rooms:read')
  if (!hub) throw requestError('SHUTTING_DOWN')

  const presence: Presence = { caller, roomId, connectionId: connectionId ?? newId() }
  const scope = { ...scopeOf(caller), requestId: context.requestId }
  const { spaceId } = await operation('write', scope, () => attachToRoom(caller, roomId, presence.connectionId))
  const audience: Audience = {
    orgId: caller.orgId,
    spaceId,
    roomId,
    of: caller.standing === 'GUEST' ? 'guests' : 'members',
  }
  return new RoomStream({
    hub,
    schema,
    caller,
    audience,
    since: sinceVersion ?? null,
    presence,
    keptAlive: connectionId === undefined,
  })
}

type Opening = {
  hub: RoomHub
  schema: GraphQLSchema
  caller: UserCaller
  audience: Audience
  since: bigint | null
  presence: Presence
  /** No client keeps this connection alive, so the stream itself does. */
  keptAlive: boolean
}

class RoomStream extends DirectStream {
  readonly #opening: Opening
  #follower: Follower | undefined
  #endKeepAlive: (() => void) | undefined
  #closed = false

  constructor(opening: Opening) {
    super()
    this.#opening = opening
  }

  override async open({ document, operationName, variables, sink }: Subscriber): Promise<void> {
    const { hub, schema, caller, audience, since, presence, keptAlive } = this.#opening
    if (this.#closed) return
    if (keptAlive) this.#endKeepAlive = hub.keepAlive(presence)
    const query = hub.sharedQuery({ schema, document, operationName, variables })
    const failed = JSON.stringify({
      errors: [{ ...requestError('NOT_FOUND').toJSON(), extensions: { code: 'NOT_FOUND' } }],
    })
    this.#follower = { caller, query, sink, sent: since, lagging: false, failed }
    await hub.add(audience, this.#follower)
  }

  override close(): void {
    if (this.#closed) return
    this.#closed = true
    const { hub, caller, audience, presence } = this.#opening
    this.#endKeepAlive?.()
    if (this.#follower) hub.remove(audience, this.#follower)
    // The connection is gone whatever becomes of this; what is left behind, the sweep takes (ROOM-52).
    const detached = operation('write', scopeOf(caller), () =>
      detachFromRoom(caller, audience.roomId, presence.connectionId),
    ).catch((error: unknown) => log?.warn({ err: error, roomId: audience.roomId }, 'presence could not be ended'))
    ending.add(detached)
    void detached.finally(() => ending.delete(detached))
  }
}
