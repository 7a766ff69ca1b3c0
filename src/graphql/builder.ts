import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import ErrorsPlugin from '@pothos/plugin-errors'
import PrismaPlugin from '@pothos/plugin-prisma'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { type GraphQLField, getNamedType, isLeafType } from 'graphql'
import { prisma } from '../db/prisma.ts'
import type PrismaTypes from '../generated/pothos.ts'
import { getDatamodel } from '../generated/pothos.ts'
import { type Caller, meets, type Need } from './caller.ts'
import type { Context } from './context.ts'
import { InvalidInputError } from './errors.ts'
import { decodeId, encodeId, type NodeName } from './ids.ts'
import { requestError } from './request-errors.ts'

type Types = {
  Context: Context
  PrismaTypes: PrismaTypes
  /** Nodes may be named by text in any field, so files of one body need not import each other's types. */
  Objects: { [Name in keyof PrismaTypes]: PrismaTypes[Name]['Shape'] }
  AuthScopes: { needs: Need }
  DefaultFieldNullability: false
  Scalars: {
    ID: { Input: string; Output: string | number | bigint }
    /** A 64-bit integer as a decimal string, since JSON numbers end at 2^53. */
    BigInt: { Input: bigint; Output: bigint }
    /** An instant in UTC with microseconds, as the database has it. */
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
    authScopes: (context) => ({ needs: (need) => meets(need, context.caller) }),
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
      if (!decoded) throw new InvalidInputError([{ path: ['id'], message: 'expected the id of a node' }])
      return decoded
    },
    nodeQueryOptions: {
      description: 'Any node by its global id; null when there is none or it is not the caller’s to see.',
      authScopes: { needs: 'signedIn' },
    },
    nodesQueryOptions: {
      description: 'Nodes by their global ids, in order; null for each that is not there or not the caller’s to see.',
      authScopes: { needs: 'signedIn' },
    },
  },
  // Costs are declared here and summed before execution by the limits (PLAT-67); the plugin's own check would come later.
  complexity: { disabled: true, fieldComplexity: costOf },
})

const PAGE_DEFAULT = 50
const MUTATION_COST = 10

/** An object costs 1, a leaf nothing, a connection its content times what it may return, a root mutation 10 (PLAT-67). */
function costOf(
  args: Record<string, unknown>,
  _context: Context,
  field: GraphQLField<unknown, Context, Record<string, unknown>>,
) {
  const type = getNamedType(field.type)
  if (isLeafType(type)) return { field: 0, multiplier: 1 }
  if (type.name.endsWith('Result')) return { field: MUTATION_COST, multiplier: 1 }
  if (type.name.endsWith('Connection'))
    return { field: 1, multiplier: Number(args['first'] ?? args['last'] ?? PAGE_DEFAULT) }
  return { field: 1, multiplier: Array.isArray(args['ids']) ? args['ids'].length : 1 }
}

builder.queryType({})
builder.mutationType({})
builder.subscriptionType({})

/** The signed-in caller. Fields behind a need have one; the check is for those that forget it. */
export function callerOf(context: Context): Caller {
  if (!context.caller) throw requestError('UNAUTHENTICATED')
  return context.caller
}
