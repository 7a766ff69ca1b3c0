import { createClient } from 'graphql-ws'
import { expect, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { Answer } from './client.ts'

/** What every test of a room's stream selects unless it asks for something else. */
export const ROOM_EVENTS = `subscription ($roomId: ID!, $sinceVersion: BigInt, $connectionId: UUID) {
  roomEvents(roomId: $roomId, sinceVersion: $sinceVersion, connectionId: $connectionId) {
    __typename version
    ... on RoomSnapshot { room { version title phase presentUserIds poker { roundVersion revealed votedUserIds currentStory { id } } } }
    ... on VoteCast { userId }
    ... on RoundRevealed { votes { userId card } result { counted average } }
    ... on PresenceChanged { userIds }
  }
}`

// biome-ignore lint/suspicious/noExplicitAny: documents written as text have no type
export type Frame = any
export type Stream = {
  /** Every event so far. */
  readonly events: Frame[]
  /** The answers that carried them, errors included. */
  readonly answers: Answer[]
  readonly closed: { code?: number; complete?: boolean } | undefined
  /** Waits until an event fits; gives it. */
  next(fits: (event: Frame) => boolean, what?: string): Promise<Frame>
  /** Versions in the order they came, snapshots included. */
  versions(): number[]
  close(): void
}

type Options = { url: string; token: string; variables: Record<string, unknown>; query?: string }

/** A real graphql-ws client following a room. */
export function openRoomStream({ url, token, variables, query = ROOM_EVENTS }: Options): Stream {
  const events: Frame[] = []
  const answers: Answer[] = []
  let closed: Stream['closed']
  const client = createClient({
    url: url.replace(/^http/, 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${token}` },
    retryAttempts: 0,
    lazy: true,
    on: {
      closed: (event) => {
        closed = { ...closed, code: (event as { code: number }).code }
      },
    },
  })
  const unsubscribe = client.subscribe(
    { query, variables },
    {
      next: (answer) => {
        answers.push(answer as Answer)
        const [event] = Object.values((answer.data ?? {}) as Record<string, Frame>)
        if (event) events.push(event)
      },
      error: (error) => {
        closed = { ...closed, complete: false }
        answers.push(Array.isArray(error) ? { errors: error as never } : { errors: [error as never] })
      },
      complete: () => {
        closed = { ...closed, complete: true }
      },
    },
  )
  return {
    events,
    answers,
    get closed() {
      return closed
    },
    async next(fits, what = 'the event') {
      await vi.waitFor(
        () =>
          expect(
            events.some(fits),
            `${what} did not come; there were ${JSON.stringify(events.slice(-5))} ${JSON.stringify(closed)} ${JSON.stringify(answers.flatMap(({ errors }) => errors ?? []))}`,
          ).toBe(true),
        { timeout: 8_000, interval: 5 },
      )
      return events.find(fits)
    },
    versions: () => events.filter(({ version }) => version !== null).map(({ version }) => Number(version)),
    close() {
      unsubscribe()
      void client.dispose()
    },
  }
}
