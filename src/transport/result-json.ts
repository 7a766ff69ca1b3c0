import type { ExecutionResult, FormattedExecutionResult, GraphQLFormattedError } from 'graphql'

type WithoutInternals = (error: GraphQLFormattedError) => GraphQLFormattedError

/** A result as peers get it: without the hints to the HTTP layer that errors and extensions carry. */
export function publicResult({ data, errors, extensions }: ExecutionResult): FormattedExecutionResult {
  const { http: _, ...shown } = extensions ?? {}
  return {
    ...(errors && { errors: publicErrors(errors) }),
    ...(data !== undefined && { data }),
    ...(Object.keys(shown).length > 0 && { extensions: shown }),
  }
}

export function publicErrors(errors: NonNullable<ExecutionResult['errors']>): GraphQLFormattedError[] {
  return errors.map((error) => withoutInternals('toJSON' in error ? error.toJSON() : error))
}

const withoutInternals: WithoutInternals = ({ extensions, ...error }) => {
  if (!extensions) return error
  const { http: _, unexpected: __, ...shown } = extensions
  return Object.keys(shown).length > 0 ? { ...error, extensions: shown } : error
}

export function resultJson(result: ExecutionResult): string {
  return JSON.stringify(publicResult(result))
}
