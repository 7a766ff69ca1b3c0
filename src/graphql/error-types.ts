import type { FieldMap } from '@pothos/core'
import { builder, type SchemaTypes } from './builder.ts'
import { enumOf } from './enums.ts'
import {
  ConflictError,
  type DomainError,
  ERROR_CODES,
  ForbiddenError,
  InvalidInputError,
  LastOwnerError,
  LimitReachedError,
  NotFoundError,
} from './errors.ts'

const ErrorCodeEnum = enumOf(
  'ErrorCode',
  "Says which error of a union it is: the type's name without `Error`.",
  ERROR_CODES,
)

const ErrorInterface = builder.interfaceRef<DomainError>('Error').implement({
  description: 'Something the caller can expect and act on.',
  fields: (t) => ({
    code: t.field({ type: ErrorCodeEnum, description: 'Which error it is.', resolve: (error) => error.code }),
    message: t.exposeString('message', { description: 'For people; programs read `code`.' }),
  }),
  resolveType: (error) => error.name,
})

type ErrorClass<E extends Error> = new (...args: never[]) => E
type ErrorFields<E> = (t: PothosSchemaTypes.ObjectFieldBuilder<SchemaTypes, E>) => FieldMap

type Description<E> = { description: string; fields?: ErrorFields<E> }

/** Gives a domain error its GraphQL type. A body calls this beside the class of an error of its own. */
export function errorType<E extends DomainError>(type: ErrorClass<E>, description: Description<E>): void {
  thrownType(type, description, [ErrorInterface])
}

/** The same for what a mutation may answer beside its payload that is no error, though it is thrown like one. */
export function outcomeType<E extends Error>(type: ErrorClass<E>, description: Description<E>): void {
  thrownType(type, description, [])
}

function thrownType<E extends Error>(
  type: ErrorClass<E>,
  { description, fields }: Description<E>,
  interfaces: readonly unknown[],
): void {
  builder.objectType(
    type as never,
    {
      name: type.name,
      description,
      interfaces,
      isTypeOf: (value: unknown) => value instanceof type,
      ...(fields && { fields }),
    } as never,
  )
}

const IssueType = builder.objectRef<{ path: readonly string[]; message: string }>('InputIssue').implement({
  description: 'One thing wrong with the input. The message never repeats the value.',
  fields: (t) => ({
    path: t.field({ type: ['String'], resolve: (issue) => [...issue.path], description: 'From the argument down.' }),
    message: t.exposeString('message', { description: 'What is wrong with it, for people.' }),
  }),
})

errorType(InvalidInputError, {
  description: 'The input breaks a rule that it alone can break; nothing was changed.',
  fields: (t) => ({
    issues: t.field({
      type: [IssueType],
      description: 'Everything that is wrong with it.',
      resolve: (error) => [...error.issues],
    }),
  }),
})
errorType(NotFoundError, {
  description: 'What the input names is not there, or not the caller’s to see; the two answer alike.',
  fields: (t) => ({
    path: t.field({
      type: ['String'],
      nullable: true,
      description: 'The input that names it, from the argument down.',
      resolve: (error) => error.path && [...error.path],
    }),
  }),
})
errorType(ForbiddenError, { description: 'The caller may see it but not do that.' })
errorType(ConflictError, {
  description: 'The current state rules it out, often because somebody else was first.',
  fields: (t) => ({
    currentVersion: t.int({
      nullable: true,
      resolve: (error) => error.currentVersion,
      description: 'Version of the document in dispute, where there is one.',
    }),
  }),
})
errorType(LimitReachedError, {
  description: 'There are as many of these as there may be.',
  fields: (t) => ({
    limit: t.int({ nullable: true, description: 'How many there may be.', resolve: (error) => error.limit }),
  }),
})
errorType(LastOwnerError, { description: 'It would leave nobody who owns it.' })
