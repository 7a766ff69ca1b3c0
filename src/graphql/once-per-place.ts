import type { GraphQLResolveInfo } from 'graphql'

const kept = new WeakMap<object, Map<string, unknown>>()

/** What all rows at one place of an answer share, since they have its arguments and its selection; made for the first. */
export function oncePerPlace<T>(info: GraphQLResolveInfo, kind: string, make: () => T): T {
  const execution = info.variableValues // an object that every execution has of its own
  const ofExecution = kept.get(execution) ?? new Map<string, unknown>()
  kept.set(execution, ofExecution)
  const place = `${kind} ${placeOf(info)}`
  const shared = (ofExecution.get(place) as T | undefined) ?? make()
  ofExecution.set(place, shared)
  return shared
}

/** Names of fields and types on the way from the root; places in lists left out. */
function placeOf({ path }: GraphQLResolveInfo): string {
  const names: string[] = []
  for (let at: typeof path | undefined = path; at; at = at.prev) {
    if (typeof at.key === 'string') names.push(`${at.typename}.${at.key}`)
  }
  return names.join(' ')
}
