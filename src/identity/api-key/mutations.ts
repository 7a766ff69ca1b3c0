import { prisma } from '../../db/prisma.ts'
import { arg } from '../../graphql/arguments.ts'
import { callerOf, type SchemaTypes } from '../../graphql/builder.ts'
import { KEY_SCOPES } from '../../graphql/caller.ts'
import { LimitReachedError } from '../../graphql/errors.ts'
import { mutation } from '../../graphql/mutation.ts'
import { visibleKeys } from './access.ts'
import { createKey } from './create-key.ts'
import { KeyModeEnum, ScopeEnum } from './enums.ts'
import type { MadeKey } from './make-key.ts'
import { revokeKey } from './revoke-key.ts'
import { rotateKey } from './rotate-key.ts'

const GRACE_MAX = 1_440

/** A key as the mutation left it. */
function keyField<R extends object>(
  t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, R>,
  description: string,
  idOf: (result: R) => string,
) {
  return t.prismaField({
    type: 'ApiKey',
    nullable: true,
    description,
    resolve: (query, result, _args, context) =>
      prisma.apiKey.findUnique({
        ...query,
        where: { orgId_id: { orgId: callerOf(context).orgId, id: idOf(result) }, AND: [visibleKeys(context.caller)] },
      }),
  })
}

/** The key exists in this answer alone. */
const shownOnce = <R extends MadeKey>(t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, R>) => ({
  apiKey: keyField(t, 'What is kept of it.', ({ keyId }) => keyId),
  key: t.string({ description: 'The key, shown this once: `Authorization: Bearer …`.', resolve: ({ key }) => key }),
})

mutation('apiKeyCreate', {
  description:
    'Makes a key of an agent, for owners, admins and admin keys; or an admin key, for owners and admins in person. An ' +
    'agent has at most 10 live keys, an org at most 10 live admin keys.',
  input: {
    agentId: arg.id('Agent').optional().describe('Whose key it is to be; left out for an admin key.'),
    admin: arg.boolean().optional().describe('True for an admin key; false when left out.'),
    name: arg.text({ max: 64 }).describe('1 to 64 characters; no other live key of the agent has it.'),
    mode: arg.enum(KeyModeEnum).optional().describe('LIVE when left out.'),
    scopes: arg
      .list(arg.enum(ScopeEnum), KEY_SCOPES.length)
      .optional()
      .describe('What an agent’s key is good for, at least one; left out for an admin key.'),
    expiresAt: arg.dateTime().optional().describe('In the future; without it the key has no end of its own.'),
  },
  errors: [LimitReachedError],
  needs: 'admin',
  run: createKey,
  payload: (t) => shownOnce(t),
})

mutation('apiKeyRotate', {
  description:
    'Replaces a key by one of the same name and scopes. The old one goes on for the grace, then ends. For whoever may ' +
    'make such a key.',
  input: {
    id: arg.id('ApiKey').describe('The key to replace.'),
    graceMinutes: arg
      .int(0, GRACE_MAX)
      .optional()
      .describe(`0 to ${GRACE_MAX}; 0 when left out, which ends it at once.`),
  },
  errors: [LimitReachedError],
  needs: 'admin',
  run: rotateKey,
  payload: (t) => ({
    ...shownOnce(t),
    previous: keyField(t, 'The key that was replaced.', ({ previousId }) => previousId),
  }),
})

mutation('apiKeyRevoke', {
  description: 'Ends a key at once and for ever, also one in its grace. Again, it does nothing.',
  input: { id: arg.id('ApiKey').describe('The key to end.') },
  needs: 'admin',
  run: revokeKey,
  payload: (t) => ({ apiKey: keyField(t, 'As it is now.', ({ keyId }) => keyId) }),
})
