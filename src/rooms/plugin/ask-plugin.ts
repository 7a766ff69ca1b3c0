import { ConflictError, ForbiddenError, invalidInput } from '../../graphql/errors.ts'
import { PluginFaultError } from './errors.ts'
import { type ActAnswer, type ActCall, pluginKinds } from './port.ts'
import type { Permitted } from './read-call.ts'
import { isObject, readState, type State } from './state.ts'

const ANSWERS_WITHIN = 1_000
const MESSAGE_MAX = 280

export type Outcome = { readonly state: State | null; readonly phase: string }

type Asked = { call: ActCall; owners: ReadonlySet<string>; permitted: Permitted }

/**
 * What the room is to become, checked. A refusal is the error that it names; whatever else goes wrong is a fault (PLUG-43).
 * Nothing is held meanwhile: no lock, no transaction, no connection.
 */
export async function askPlugin({ call, owners, permitted }: Asked): Promise<Outcome> {
  const answer = await answerOf(call)
  if (!isObject(answer)) throw new PluginFaultError(false)
  if ('refused' in answer) throw refusalOf(answer['refused'])
  const { state, phase, ...rest } = answer
  const read = state === undefined ? null : readState(state, owners)
  const next = phase ?? permitted.action.to ?? call.room.phase
  const fits = Object.keys(rest).length === 0 && (state === undefined || read !== null)
  if (!fits || !isWay(next, call.room.phase, permitted)) throw new PluginFaultError(false)
  return { state: read, phase: next as string }
}

/** An action that says where it leads leads there or nowhere; any other to what the kind declares (ROOM-162). */
function isWay(next: unknown, current: string, { action, phases }: Permitted): boolean {
  if (next === current) return true
  return action.to === undefined ? phases.includes(next as string) : next === action.to
}

async function answerOf(call: ActCall): Promise<ActAnswer> {
  const port = pluginKinds()
  if (!port) throw new PluginFaultError(true)
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), port.answersWithin ?? ANSWERS_WITHIN)
  try {
    return await Promise.race([
      port.act(call, late.signal),
      new Promise<never>((_resolve, reject) => {
        late.signal.addEventListener('abort', () => reject(new PluginFaultError(true)), { once: true })
      }),
    ])
  } catch (error) {
    // What the plugin said may hold what only one person is to see, so it is not passed on (ROOM-162).
    throw error instanceof PluginFaultError ? error : new PluginFaultError(false)
  } finally {
    clearTimeout(timer)
  }
}

function refusalOf(refused: unknown): Error {
  const { code, message } = isObject(refused) ? refused : {}
  if (typeof message !== 'string') return new PluginFaultError(false)
  const said = [...message.toWellFormed()].slice(0, MESSAGE_MAX).join('')
  if (code === 'invalid') return invalidInput('input', said)
  if (code === 'forbidden') return new ForbiddenError(said)
  return code === 'conflict' ? new ConflictError(said) : new PluginFaultError(false)
}
