import { expect, vi } from 'vitest'
import type { Answer } from '../support/client.ts'

export type Collected = {
  /** The argument that `subscribe` of graphql-ws and of graphql-sse take. */
  readonly sink: { next(answer: object): void; error(error: unknown): void; complete(): void }
  readonly answers: Answer[]
  /** Once it is over: the error it ended with, or none. */
  readonly end: { error?: unknown } | undefined
  /** Waits for an event that fits. */
  next(fits: (event: Event) => boolean): Promise<Event>
  /** What the root field of each answer held. */
  events(): Event[]
  ended(): Promise<{ error?: unknown }>
}
// biome-ignore lint/suspicious/noExplicitAny: documents written as text have no type
export type Event = any

const PATIENCE = { timeout: 30_000, interval: 10 }

/** Remembers all that a client's subscription is told. */
export function collect(): Collected {
  const answers: Answer[] = []
  let end: Collected['end']
  const events = () => answers.flatMap(({ data }) => Object.values((data ?? {}) as object).filter(Boolean))
  return {
    answers,
    events,
    get end() {
      return end
    },
    sink: {
      next: (answer) => answers.push(answer as Answer),
      error: (error) => {
        end = { error }
      },
      complete: () => {
        end = {}
      },
    },
    async next(fits) {
      const told = () => `there was only ${JSON.stringify(answers.slice(-5))}, then ${JSON.stringify(end)}`
      await vi.waitFor(() => expect(events().some(fits), told()).toBe(true), PATIENCE)
      return events().find(fits)
    },
    async ended() {
      await vi.waitFor(() => expect(end).toBeDefined(), PATIENCE)
      return end!
    },
  }
}
