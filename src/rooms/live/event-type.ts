import { builder, type SchemaTypes } from '../../graphql/builder.ts'
import { userById } from '../../identity/index.ts'
import type { RoomEvent, RoomEventName } from './event-payloads.ts'

export const userId = (id: string) => ({ type: 'User' as const, id })

export const RoomEventInterface = builder.interfaceRef<RoomEvent>('RoomEvent').implement({
  description:
    'Something that happened in a room. Versions follow one another without gap; the next one is version + 1.',
  resolveType: ({ type }) => type,
  fields: (t) => ({
    roomId: t.globalID({
      description: 'Where it happened.',
      resolve: ({ roomId }) => ({ type: 'Room', id: roomId }),
    }),
    version: t.field({
      type: 'BigInt',
      nullable: true,
      description: 'Null for what takes no version, such as presence.',
      resolve: ({ version }) => version,
    }),
    at: t.expose('at', { type: 'DateTime', description: 'When it happened.' }),
    actor: t.field({
      type: 'User',
      nullable: true,
      description: 'Who did it; null for the server itself.',
      resolve: ({ actorId }, _args, context) => (actorId ? userById(context, actorId) : null),
    }),
  }),
})

export type Fields<P> = PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, P>
type EventFields<T extends RoomEventName> = (t: Fields<RoomEvent<T>>) => Record<string, unknown>

/** The GraphQL type of one live event. */
export function event<T extends RoomEventName>(
  type: T,
  description: string,
  fields: EventFields<T> = () => ({}),
): void {
  builder
    .objectRef<RoomEvent<T>>(type)
    .implement({ description, interfaces: [RoomEventInterface] as never, fields: fields as never })
}
