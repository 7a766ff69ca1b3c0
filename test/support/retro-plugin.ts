import { operation } from '../../src/db/operation.ts'
import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import {
  type ActAnswer,
  type ActCall,
  type DeclaredKind,
  registerKinds,
  registerPluginKinds,
  retireKinds,
} from '../../src/rooms/index.ts'
import type { Actor, TestRoom } from './actor.ts'
import { uuidOf, type World } from './world.ts'

const text = {
  type: 'object',
  properties: { text: { type: 'string', maxLength: 2000 } },
  required: ['text'],
  additionalProperties: false,
}
const nothing = { type: 'object', additionalProperties: false }

/** A board: people write cards for themselves, show them, and a host leads on. */
export const RETRO: DeclaredKind = {
  kind: 'retro',
  display: 'Retrospective',
  declaration: {
    phases: ['collect', 'discuss', 'done'],
    initial: 'collect',
    actions: {
      draft: { who: 'participant', phases: ['collect'], input: text },
      publish: { who: 'participant', phases: ['collect'], input: nothing },
      remark: { who: 'member', phases: ['collect', 'discuss'], input: text },
      discuss: { who: 'host', phases: ['collect'], input: nothing, to: 'discuss' },
      back: { who: 'host', phases: ['discuss'], input: nothing },
      close: { who: 'host', phases: ['collect', 'discuss'], input: nothing, to: 'done' },
    },
  },
  configSchema: {
    type: 'object',
    properties: { columns: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 8 } },
    required: ['columns'],
    additionalProperties: false,
  },
  initialState: { shared: { cards: [] }, private: {} },
}

type Act = (call: ActCall, signal: AbortSignal) => Promise<ActAnswer>
type Board = { shared: { cards: string[] }; private: Record<string, string[]> }

export const play: Act = async ({ action, input, actor, state }) => {
  const { shared, private: parts } = structuredClone(state) as Board
  const own = parts[actor.id] ?? []
  const said = (input as { text?: string }).text ?? ''
  if (action === 'draft') return { state: { shared, private: { ...parts, [actor.id]: [...own, said] } } }
  if (action === 'publish') {
    return { state: { shared: { cards: [...shared.cards, ...own] }, private: { ...parts, [actor.id]: [] } } }
  }
  if (action === 'remark') return { state: { shared: { cards: [...shared.cards, said] }, private: parts } }
  return action === 'back' ? { phase: 'collect' } : {}
}

/** Runs the plugin in the test's own process. */
export class RetroPlugin {
  /** What it does when it is called; tests put something else here. */
  act: Act = play
  readonly calls: ActCall[] = []
  readonly #kinds = new Map<string, DeclaredKind>()
  readonly #off = new Set<string>()

  constructor(answersWithin = 5_000) {
    registerPluginKinds({
      answersWithin,
      kindSetup: async ({ installId, kind }) => this.#kinds.get(`${installId} ${kind}`) ?? null,
      enabledInstalls: async (_orgId, ids) => new Set(ids.filter((id) => !this.#off.has(id))),
      act: (call, signal) => {
        this.calls.push(call)
        return this.act(call, signal)
      },
    })
  }

  /** Installs the plugin, or upgrades it where `installId` is given. */
  async install(
    orgId: string,
    {
      kinds = [RETRO],
      provider = 'retro',
      installId = newId() as string,
    }: { kinds?: DeclaredKind[]; provider?: string; installId?: string } = {},
  ): Promise<string> {
    await operation('write', { orgId }, () => registerKinds({ orgId, installId, provider }, kinds))
    for (const kind of kinds) this.#kinds.set(`${installId} ${kind.kind}`, kind)
    return installId
  }

  uninstall(orgId: string, installId: string): Promise<void> {
    return operation('write', { orgId }, () => retireKinds({ orgId, installId }))
  }

  disable(installId: string): void {
    this.#off.add(installId)
  }

  enable(installId: string): void {
    this.#off.delete(installId)
  }
}

/** A retro in the space, opened by its host, with these people in it. */
export async function retroRoom(world: World, host: Actor, people: readonly Actor[] = []): Promise<TestRoom> {
  const made = await host.mutate(
    'roomCreate',
    { spaceId: world.home.id, kind: 'retro', title: 'Retro', config: { plugin: { columns: ['Good'] } } },
    'room { id }',
  )
  const id: string = made['room'].id
  const room: TestRoom = {
    id,
    uuid: uuidOf(id),
    spaceId: world.home.id,
    orgId: host.orgId,
    round: { storyId: '', roundVersion: '0' },
  }
  for (const person of [host, ...people]) await world.attend(room, person)
  return room
}

export const act = (who: Actor, room: Pick<TestRoom, 'id'>, action: string, input: unknown = {}) =>
  who.mutate(
    'roomAct',
    { roomId: room.id, action, input },
    'room { version phase state endedAt }',
    `
    ... on PluginFaultError { retryable } ... on WrongPhaseError { phase }`,
  )

export const userIdOf = (uuid: string): string => encodeId('User', uuid)
