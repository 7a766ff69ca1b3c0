import type { ServerResponse } from 'node:http'

/** Named conditions under which the server can serve; each answers within its time or counts as failing. */
export type Checks = Record<string, () => boolean | Promise<boolean>>

export type Readiness = { failing(): Promise<string[]> }

const PATIENCE = 2_000
const KEPT = 1_000

/** Runs the checks at most once a second however often it is asked, since whoever asks need not be signed in. */
export function createReadiness(checks: Checks): Readiness {
  let latest: { at: number; failing: Promise<string[]> } | undefined
  return {
    failing() {
      if (!latest || Date.now() - latest.at > KEPT) latest = { at: Date.now(), failing: failing(checks) }
      return latest.failing
    },
  }
}

async function failing(checks: Checks): Promise<string[]> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ({ name, holds: await holds(check) })),
  )
  return results.filter((result) => !result.holds).map(({ name }) => name)
}

async function holds(check: Checks[string]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), PATIENCE)
  try {
    return await Promise.race([promise, check()])
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}

/** `/healthz`: the event loop turns (PLAT-73). */
export function answerHealth(response: ServerResponse): void {
  answer(response, 200, { status: 'ok' })
}

/** `/readyz`: send work here. A failing check is named, and nothing else is said (PLAT-73). */
export async function answerReadiness(
  response: ServerResponse,
  readiness: Readiness,
  draining: boolean,
): Promise<void> {
  const names = draining ? ['draining'] : await readiness.failing()
  if (names.length === 0) answer(response, 200, { status: 'ready' })
  else answer(response, 503, { status: 'unready', failing: names })
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
