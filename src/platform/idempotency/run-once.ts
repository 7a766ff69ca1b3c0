import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Caller } from '../../graphql/caller.ts'
import type { Effects } from '../../graphql/context.ts'
import { requestError } from '../../graphql/request-errors.ts'
import { EnvelopeError } from '../../lib/envelope.ts'
import { newId } from '../../lib/type-id.ts'
import { sealSecret, unsealSecret } from '../keyring/keyring.ts'
import { claim, finish, type KeyRow, look, mark, placeOf, release, renew, type Slot, slotOf } from './key-row.ts'

/** What a request was answered with, as far as it is answered with again. */
export type Answer = {
  status: number
  /** May be kept in the clear. */
  headers: Record<string, string>
  /** JSON; sealed where it is kept. */
  body: string
}

export type Keyed = {
  caller: Caller
  key: string
  fingerprint: Buffer
  /** Milliseconds until the key is free again. */
  ttl: number
  log: Logger
}

/** Runs the request; `failed` says that its answer reports an error. */
export type Run = (effects: Effects) => Promise<{ answer: Answer; failed: boolean }>

const RENEW_EVERY = 20_000
const PATIENCE = 10_000
const PAUSE = { least: 50, most: 500 }
const ENVELOPE_MAX = 1_048_576

/** Runs of this process, for those who wait here. */
const running = new Map<string, Promise<unknown>>()

/**
 * Runs a request once, however often and wherever it comes under its key, and answers the others with what the first was
 * answered with (PLAT-52). Null for the answer says that it was run here and now.
 */
export async function runOnce(keyed: Keyed, run: Run): Promise<Answer | null> {
  const slot = slotOf(keyed.caller, keyed)
  const patience = performance.now() + PATIENCE
  let row: KeyRow | undefined
  for (let pause = PAUSE.least; ; pause = Math.min(pause * 2, PAUSE.most)) {
    if (!row || isAbandoned(row)) {
      const holder = newId()
      if (await claim(slot, holder)) {
        await ownRun(slot, holder, run, keyed.log)
        return null
      }
      row = await look(slot)
    }
    const kept = row && (await keptAnswer(slot, row))
    if (kept) return kept
    if (performance.now() >= patience) throw requestError('IDEMPOTENCY_IN_PROGRESS', { retryAfterSeconds: 1 })
    await Promise.race([delay(pause), running.get(nameOf(slot))]) // no connection is held meanwhile
    row = await look(slot)
  }
}

/** Its run is over, and it is as if it had never been. */
const isAbandoned = ({ sameRequest, state, leased, committedFields }: KeyRow) =>
  sameRequest && state === 'running' && !leased && committedFields.length === 0

/** The answer that is kept; undefined while there is one to come. */
async function keptAnswer(slot: Slot, row: KeyRow): Promise<Answer | undefined> {
  if (!row.sameRequest) throw requestError('IDEMPOTENCY_KEY_REUSED')
  const { state, leased, committedFields } = row
  if (state === 'done') return replay(slot, row)
  if (state === 'lost' || (!leased && committedFields.length > 0)) throw lost(committedFields)
  return undefined
}

async function replay(slot: Slot, { response, statusCode, headers, committedFields }: KeyRow): Promise<Answer> {
  try {
    return { status: statusCode!, headers: headers!, body: await unsealSecret(placeOf(slot), response!) }
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error
    throw lost(committedFields)
  }
}

const lost = (committedFields: string[]) => requestError('IDEMPOTENCY_RESULT_LOST', { committedFields })
const nameOf = ({ orgId, actorId, key }: Slot) => `${orgId} ${actorId} ${key}`

async function ownRun(slot: Slot, holder: string, run: Run, log: Logger): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const name = nameOf(slot)
  running.set(name, promise)
  const renewal = setInterval(() => {
    renew(slot, holder).catch((error: unknown) => log.warn({ err: error }, 'a lease could not be renewed'))
  }, RENEW_EVERY)
  try {
    await runAndKeep(slot, holder, run, log)
  } finally {
    clearInterval(renewal)
    if (running.get(name) === promise) running.delete(name)
    resolve()
  }
}

async function runAndKeep(slot: Slot, holder: string, run: Run, log: Logger): Promise<void> {
  let failed = false
  const effects: Effects = {
    async commit(field) {
      if (!(await mark(slot, holder, field))) throw requestError('IDEMPOTENCY_IN_PROGRESS', { retryAfterSeconds: 1 })
    },
    failed() {
      failed = true
    },
  }
  const unkept = (error: unknown) => log.error({ err: error }, 'the answer under an idempotency key could not be kept')
  let result: Awaited<ReturnType<Run>>
  try {
    result = await run(effects)
  } catch (error) {
    await release(slot, holder).catch(unkept) // refused before anything ran (PLAT-53)
    throw error
  }
  // The request is answered in any case; kept or not, it took effect as it says.
  try {
    const mayRunAgain = (failed || result.failed) && (await release(slot, holder))
    if (!mayRunAgain) await keep(slot, holder, result.answer)
  } catch (error) {
    unkept(error)
  }
}

async function keep(slot: Slot, holder: string, { status, headers, body }: Answer): Promise<void> {
  const response = body.length > ENVELOPE_MAX ? null : await sealSecret(placeOf(slot), body)
  const fits = response !== null && response.length <= ENVELOPE_MAX
  await finish(slot, holder, fits ? { response, statusCode: status, headers } : null)
}
