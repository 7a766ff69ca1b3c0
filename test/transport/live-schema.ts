import { buildSchema, type GraphQLSchema } from 'graphql'
import { sqlOne } from '../../src/db/sql.ts'
import type { Context } from '../../src/graphql/context.ts'
import { invalidInput, NotFoundError } from '../../src/graphql/errors.ts'
import { DirectStream, type Subscriber } from '../../src/live/direct-stream.ts'
import { sourceOf } from '../../src/live/source.ts'
import type { LiveWorld } from './live-world.ts'

/** The small schema of a live world, whose counters and switches its resolvers use. */
export function liveSchema(world: LiveWorld): GraphQLSchema {
  const schema = buildSchema(/* GraphQL */ `
    type Query { hello: String slow: String boom: String secret: String }
    type Mutation { bump: Int }
    type Event { fact: String load: Int transaction: String person: String boom: String }
    type Subscription {
      feed(from: Int): Event
      admins: Event
      parked: Event
      pending: Event
      refused: Event
      missing: Event
      broken: Event
      direct: Event
    }
  `)
  const fields = (type: string) => (schema.getType(type) as never as { getFields(): Record<string, Field> }).getFields()
  const query = fields('Query')
  query['hello']!.resolve = () => 'world'
  query['slow']!.resolve = async () => {
    world.asked += 1
    await world.gate.promise
    return 'done'
  }
  query['boom']!.resolve = () => {
    throw new Error('password=hunter2')
  }
  fields('Mutation')['bump']!.resolve = () => 1

  const event = fields('Event')
  event['fact']!.resolve = (fact) => fact
  event['load']!.resolve = (_fact, _args, context) => {
    context.loads.set({}, 1)
    return context.loads.size
  }
  event['transaction']!.resolve = async () => {
    const { snapshot } = await sqlOne<{ snapshot: string }>`
      SELECT pg_backend_pid() || ' ' || statement_timestamp() AS snapshot`
    return snapshot
  }
  event['person']!.resolve = async (_fact, _args, context) => {
    world.contexts.push(context)
    const { person } = await sqlOne<{ person: string }>`SELECT current_setting('moothall.user_id', true) AS person`
    return person
  }
  event['boom']!.resolve = () => {
    throw new Error('password=hunter2')
  }

  const subscription = fields('Subscription')
  for (const field of Object.values(subscription)) field.resolve = (fact) => fact
  subscription['feed']!.subscribe = (_root, { from }) => follow(world, from ?? world.facts.length)
  subscription['admins']!.subscribe = () => follow(world, world.facts.length)
  subscription['admins']!.extensions = { needs: 'admin' }
  subscription['parked']!.subscribe = () => follow(world, Number.MAX_SAFE_INTEGER)
  subscription['pending']!.subscribe = async () => {
    world.asked += 1
    await world.gate.promise
    return follow(world, 0)
  }
  subscription['refused']!.subscribe = () => {
    throw invalidInput('after', 'expected a cursor')
  }
  subscription['missing']!.subscribe = () => {
    throw new NotFoundError()
  }
  subscription['broken']!.subscribe = () =>
    sourceOf({ attach: () => () => {}, read: async () => Promise.reject(new Error('password=hunter2')) })
  subscription['direct']!.subscribe = () => new TestDirect(world.directs)
  return schema
}

/** Follows the world's list of facts. */
function follow(world: LiveWorld, from: number): AsyncIterable<string> {
  let cursor = from
  world.asked += 1
  return sourceOf<string>({
    attach: (wake) => {
      world.attached += 1
      world.wake.add(wake)
      return () => {
        world.attached -= 1
        world.wake.delete(wake)
      }
    },
    read: async () => {
      const items = world.facts.slice(cursor)
      cursor = Math.max(cursor, world.facts.length)
      return { items }
    },
  })
}

type Field = {
  resolve: (source: unknown, args: Record<string, never>, context: Context) => unknown
  subscribe: (source: unknown, args: Record<string, never>, context: Context) => unknown
  extensions: Record<string, unknown>
}

/** Writes what the test tells it to. */
export class TestDirect extends DirectStream {
  subscriber: Subscriber | undefined
  closed = 0
  readonly #all: Set<TestDirect>

  constructor(all: Set<TestDirect>) {
    super()
    this.#all = all
    all.add(this)
  }

  override async open(subscriber: Subscriber): Promise<void> {
    this.subscriber = subscriber
  }

  override close(): void {
    this.closed += 1
    this.#all.delete(this)
  }
}
