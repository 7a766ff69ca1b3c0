import type { FieldMap } from '@pothos/core'
import type { GraphQLResolveInfo } from 'graphql'
import { currentLane, endingWrites, writeInLane } from '../db/operation.ts'
import { type Arg, inputReader, inputType, type Values } from './arguments.ts'
import { builder, type SchemaTypes } from './builder.ts'
import { type Caller, type CallerWith, type FieldScope, hasScope, meets, type Need } from './caller.ts'
import type { Context } from './context.ts'
import { fromDatabase } from './database-errors.ts'
import { ConflictError, DomainError, ForbiddenError, InvalidInputError, NotFoundError } from './errors.ts'
import { requestError } from './request-errors.ts'

// biome-ignore lint/suspicious/noExplicitAny: constructors differ in their arguments only
type ErrorClass = abstract new (...args: any[]) => DomainError
// biome-ignore lint/suspicious/noExplicitAny: as above
type OutcomeClass = abstract new (...args: any[]) => Error
type PayloadBuilder<R> = PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, R & object>

const COMMON: readonly ErrorClass[] = [InvalidInputError, NotFoundError, ForbiddenError, ConflictError]

type Definition<F extends Record<string, Arg<unknown>>, N extends Need, R> = {
  description: string
  input: F
  /** Errors beyond InvalidInput, NotFound, Forbidden and Conflict, which every mutation may answer. */
  errors?: readonly ErrorClass[]
  /** What it may answer beside its payload that is no error; `run` throws it all the same. */
  outcomes?: readonly OutcomeClass[]
  needs: N
  /** What the key of an agent must be good for (ID-44); people and admin keys have no such bounds. */
  scope?: FieldScope
  /** Agents that only read may call it, since it decides by itself what they may (ID-44); no other mutation lets them. */
  inReadMode?: true
  /**
   * `field` (default): `run` is one write operation, repeated on contention. `own`: `run` opens its operations itself,
   * because it works before the org is known or computes between them (DESIGN §2).
   */
  operations?: 'field' | 'own'
  run: (caller: CallerWith<N>, input: Values<F>, context: Context) => Promise<R>
  /** Fields of the payload; they resolve after the commit, in a read operation of their own. */
  payload: (t: PayloadBuilder<R>) => FieldMap
}

/**
 * Defines `name(input: <Name>Input!): <Name>Result`, a union of `<Name>Payload` and its errors. Order of events: the
 * caller's standing, the input, the use-case, COMMIT, the payload.
 */
export function mutation<F extends Record<string, Arg<unknown>>, N extends Need, R>(
  name: string,
  definition: Definition<F, N, R>,
): void {
  const {
    description,
    input,
    errors = [],
    outcomes = [],
    needs,
    scope,
    operations = 'field',
    run,
    payload,
  } = definition
  const title = name.charAt(0).toUpperCase() + name.slice(1)
  const read = inputReader(input)
  const known = [...COMMON, ...errors]

  const Payload = builder.objectRef<R & object>(`${title}Payload`)
  Payload.implement({ description: `What \`${name}\` left behind.`, fields: payload as never })
  const Input = Object.keys(input).length > 0 ? inputType(`${title}Input`, input, `What \`${name}\` takes.`) : undefined

  builder.mutationField(name, (t) =>
    t.field({
      type: Payload as never,
      description,
      // A top-level error of one field must not null its neighbours (DESIGN §5).
      nullable: true,
      extensions: { needs, scope },
      errors: {
        types: [...known, ...outcomes] as never,
        union: { description: `The payload of \`${name}\`, or why there is none.` },
      },
      ...(Input && {
        args: { input: t.arg({ type: Input as never, required: true, description: 'All that it takes.' }) },
      }),
      resolve: ((_root: unknown, args: { input?: unknown }, context: Context, { path }: GraphQLResolveInfo) =>
        withEffects(context, path.key, async () => {
          const caller = admit(definition, context.caller)
          const values = read(args.input ?? {})
          const body = () => run(caller as CallerWith<N>, values, context)
          try {
            return await (operations === 'own' ? ownOperations(body) : writeInLane(body))
          } catch (error) {
            throw answerFor(error, known)
          } finally {
            context.loads.clear()
          }
        })) as never,
    } as never),
  )
}

/** Where the request has an idempotency key, each commit of the field and the mark of it are one (PLAT-51). */
async function withEffects<R>({ effects }: Context, field: string | number, body: () => Promise<R>): Promise<R> {
  if (!effects) return body()
  let running = true
  try {
    // What the field has left to be done later is no part of it.
    return await endingWrites(async () => void (running && (await effects.commit(String(field)))), body)
  } catch (error) {
    effects.failed()
    throw error
  } finally {
    running = false
  }
}

/** The lane's snapshot is from before what the use-case did elsewhere; the payload gets a new one. */
async function ownOperations<R>(body: () => Promise<R>): Promise<R> {
  await currentLane().next('read') // gives back the connection of the field before it: the use-case may compute for long
  try {
    return await body()
  } finally {
    await currentLane().abandon('read')
  }
}

type Admission = { needs: Need; scope?: FieldScope; inReadMode?: true }

function admit({ needs, scope, inReadMode }: Admission, caller: Caller | null): Caller | null {
  if (caller?.kind === 'agent' && caller.mode === 'read' && !inReadMode) {
    throw new ForbiddenError('This agent only reads.')
  }
  if (scope && !hasScope(scope, caller)) throw new ForbiddenError(`The key lacks the scope ${scope}.`)
  if (meets(needs, caller)) return caller
  if (!caller) throw requestError('UNAUTHENTICATED')
  if (caller.standing === null) throw requestError('FORBIDDEN')
  throw new ForbiddenError()
}

/** What the database said, as an error of this union; one that the union lacks is a conflict (§1.2). */
function answerFor(error: unknown, known: readonly ErrorClass[]): unknown {
  const answer = error instanceof DomainError ? error : (fromDatabase(error) ?? error)
  if (!(answer instanceof DomainError)) return answer
  if (known.some((type) => answer instanceof type)) return answer
  return error instanceof DomainError ? error : new ConflictError()
}
