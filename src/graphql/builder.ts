import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import ErrorsPlugin from '@pothos/plugin-errors'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { type GraphQLField, getNamedType, isLeafType, isUnionType } from 'graphql'
import { prisma } from '../db/prisma.ts'
import type PrismaTypes from '../generated/pothos.ts'
import { getDatamodel } from '../generated/pothos.ts'
import { type Caller, type FieldScope, hasScope, meets, type Need } from './caller.ts'
import type { Context } from './context.ts'
import { InvalidInputError } from './errors.ts'
import { decodeId, encodeId, type NodeName } from './ids.ts'
import { PAGE_DEFAULT, PAGE_MAX } from './keyset.ts'
import { requestError } from './request-errors.ts'

type Types = {
  Context: Context
  PrismaTypes: PrismaTypes
  /** Nodes may be named by text in any field, so files of one body need not import each other's types. */
  Objects: { [Name in keyof PrismaTypes]: PrismaTypes[Name]['Shape'] }
  /** How far its caller must reach, and what an agent's key must be good for; both, where both stand. */
  AuthScopes: { needs: Need; scope: FieldScope }
  DefaultAuthStrategy: 'all'
  DefaultFieldNullability: false
  Scalars: {
    ID: { Input: string; Output: string | number | bigint }
    /** A 64-bit integer as a decimal string, since JSON numbers end at 2^53. */
    BigInt: { Input: bigint; Output: bigint }
    /** An instant in UTC with microseconds, as the database has it. */
    Date: { Input: string; Output: string }
    DateTime: { Input: string; Output: string }
    JSON: { Input: unknown; Output: unknown }
    UUID: { Input: string; Output: string }
  }
}
export type SchemaTypes = PothosSchemaTypes.ExtendDefaultTypes<Types>

const capitalised = (name: string) => name.charAt(0).toUpperCase() + name.slice(1)

export const builder = new SchemaBuilder<Types>({
  // Errors stand before scopes: a refused mutation answers with ForbiddenError in its union.
  plugins: [ErrorsPlugin, ScopeAuthPlugin, PrismaPlugin, RelayPlugin, ComplexityPlugin],
  defaultFieldNullability: false,
  errors: {
    defaultTypes: [],
    directResult: true,
    defaultUnionOptions: { name: ({ fieldName }) => `${capitalised(fieldName)}Result` },
  },
  scopeAuth: {
    defaultStrategy: 'all',
    authScopes: (context) => ({
      needs: (need) => meets(need, context.caller),
      scope: (scope) => hasScope(scope, context.caller),
    }),
    unauthorizedError: (_parent, context) => requestError(context.caller ? 'FORBIDDEN' : 'UNAUTHENTICATED'),
  },
  prisma: {
    client: prisma,
    dmmf: getDatamodel(),
    exposeDescriptions: false,
    filterConnectionTotalCount: true,
    onUnusedQuery: 'error',
  },
  relay: {
    encodeGlobalID: (type, id) => encodeId(type as NodeName, String(id)),
    decodeGlobalID: (text) => {
      const decoded = decodeId(text)
      // A project has an id already, for lists of them; what it is, no body says yet.
      if (!decoded || !builder.configStore.hasConfig(decoded.typename))
        throw new InvalidInputError([{ path: ['id'], message: 'expected the id of a node' }])
      return decoded
    },
    nodeQueryOptions: {
      description: 'Any node by its global id; null when there is none or it is not the caller’s to see.',
      authScopes: { needs: 'signedIn' },
      args: { id: { description: 'A global id of any type.' } },
    },
    nodesQueryOptions: {
      description: 'Nodes by their global ids, in order; null for each that is not there or not the caller’s to see.',
      authScopes: { needs: 'signedIn' },
      args: { ids: { description: 'Global ids of any types.' } },
    },
    nodeTypeOptions: { description: 'Whatever has an id of its own.' },
    idFieldOptions: { description: 'Global: its prefix says what it is the id of.' },
    pageInfoTypeOptions: { description: 'Where a page lies in its list.' },
    hasNextPageFieldOptions: { description: 'Whether rows follow this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether rows come before this page.' },
    startCursorFieldOptions: { description: 'Of the first row; null when the page is empty.' },
    endCursorFieldOptions: { description: 'Of the last row; null when the page is empty.' },
    edgesFieldOptions: { description: 'The rows of this page with their cursors.' },
    pageInfoFieldOptions: { description: 'Where this page lies in the list.' },
    cursorFieldOptions: { description: 'For `after` or `before`.' },
    nodeFieldOptions: { description: 'The row.' },
    firstArgOptions: {
      description: `That many rows from the beginning, 1 to ${PAGE_MAX}; ${PAGE_DEFAULT} when left out.`,
    },
    lastArgOptions: { description: `That many rows from the end, 1 to ${PAGE_MAX}; not together with \`first\`.` },
    afterArgOptions: { description: 'Only rows behind this cursor.' },
    beforeArgOptions: { description: 'Only rows before this cursor.' },
  },
  // Costs are declared here and summed before execution by the limits (PLAT-67); the plugin's own check would come later.
  complexity: { disabled: true, fieldComplexity: fieldCost },
})

const MUTATION_COST = 10

/** An object costs 1, a leaf nothing, a connection its content times what it may return, a root mutation 10 (PLAT-67). */
function fieldCost(
  args: Record<string, unknown>,
  _context: Context,
  field: GraphQLField<unknown, Context, Record<string, unknown>>,
) {
  const type = getNamedType(field.type)
  if (isLeafType(type)) return { field: 0, multiplier: 1 }
  if (isUnionType(type) && type.name.endsWith('Result')) return { field: MUTATION_COST, multiplier: 1 }
  if (type.name.endsWith('Connection'))
    return { field: 1, multiplier: Number(args['first'] ?? args['last'] ?? PAGE_DEFAULT) }
  const count = Array.isArray(args['ids']) ? args['ids'].length : 1 // nodes: each is an object, whatever is asked of it
  return { field: count, multiplier: count }
}

type FindUnique = (id: string, context: Context) => Record<string, unknown>
const found = new Map<string, FindUnique>()
const { prismaNode } = builder
builder.prismaNode = function noted(this: typeof builder, type: never, options: never) {
  found.set(type, (options as { findUnique: FindUnique }).findUnique)
  return prismaNode.call(this, type, options)
} as typeof prismaNode

/** How one node of the type is found, and that only by whoever may see it. */
export function findUniqueOf(type: NodeName): FindUnique {
  const findUnique = found.get(type)
  if (!findUnique) throw new Error(`${type} is no node.`)
  return findUnique
}

builder.queryType({ description: 'Reads. All of one document see the same snapshot of the database.' })
builder.mutationType({
  description: 'Changes, one after the other; each answers with its payload or one of its errors.',
})
builder.subscriptionType({ description: 'Streams, over WebSocket or server-sent events.' })

/** The signed-in caller. Fields behind a need have one; the check is for those that forget it. */
export function callerOf(context: Context): Caller {
  if (!context.caller) throw requestError('UNAUTHENTICATED')
  return context.caller
}
