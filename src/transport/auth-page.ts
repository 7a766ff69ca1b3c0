import type { ServerResponse } from 'node:http'

/** A plain page for a browser that comes back from elsewhere: one sentence of ours and its code. */
export function answerAuthPage(
  response: ServerResponse,
  {
    status,
    code,
    sentence,
    headers = {},
  }: {
    status: number
    code: string
    sentence: string
    headers?: Record<string, string>
  },
): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers })
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Signing in</title><p>${sentence}</p><p><code>${code}</code></p></html>\n`,
  )
}
