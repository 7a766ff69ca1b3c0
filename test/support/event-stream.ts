import { expect, vi } from 'vitest'
import type { Answer } from './client.ts'

export type EventStream = {
  readonly answers: Answer[]
  /** Whether the server said it is complete, or the connection ended. */
  readonly ended: boolean
  next(fits: (answer: Answer) => boolean): Promise<Answer>
  close(): void
}

/** A subscription over server-sent events, read with fetch as a browser would. */
export async function openEventStream(
  url: string,
  token: string,
  query: string,
  variables: object,
): Promise<EventStream> {
  const abort = new AbortController()
  const response = await fetch(url, {
    method: 'POST',
    signal: abort.signal,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  })
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  const answers: Answer[] = []
  const stream = {
    answers,
    ended: false,
    next: async (fits: (answer: Answer) => boolean) => {
      await vi.waitFor(() => expect(answers.some(fits)).toBe(true), { timeout: 8_000, interval: 5 })
      return answers.find(fits) as Answer
    },
    close: () => abort.abort(),
  }
  const read = async () => {
    let text = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [, type, data] = /^event: (\w+)\ndata: ?(.*)$/s.exec(text.slice(0, end)) ?? []
        text = text.slice(end + 2)
        if (type === 'next') answers.push(JSON.parse(data as string))
        if (type === 'complete') stream.ended = true
      }
    }
  }
  read().then(
    () => (stream.ended = true),
    () => (stream.ended = true),
  )
  return stream
}
