import { builder } from '../../graphql/builder.ts'
import type { KeyScope } from '../../graphql/caller.ts'
import { type EnumRef, enumOf } from '../../graphql/enums.ts'
import type { KeyMode } from './secret.ts'

const SCOPES: Record<KeyScope, string> = {
  'gate:act': 'Submits actions to the gate.',
  'gate:read': 'Reads actions of the gate and what became of them.',
  'work:read': 'Reads projects, tickets, wiki and notes within the agent’s reach.',
  'work:write': 'Changes them, in mode WRITE.',
  'rooms:read': 'Reads the rooms of the spaces that the agent is a member of.',
  'rooms:write': 'Takes part in them, in mode WRITE.',
  admin: 'Administers the org: the one scope of an admin key.',
}

/** GraphQL names have no colons. */
export const ScopeEnum = builder.enumType('Scope', {
  description: 'What a key is good for.',
  values: Object.fromEntries(
    Object.entries(SCOPES).map(([value, description]) => [
      value.toUpperCase().replace(':', '_'),
      { value: value as KeyScope, description },
    ]),
  ),
}) as EnumRef<KeyScope>

export const KeyModeEnum = enumOf<KeyMode>('ApiKeyMode', 'What a key is used for; recorded, not enforced.', {
  live: 'In earnest.',
  test: 'For trying out.',
})
