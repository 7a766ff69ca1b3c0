import type { Answer, GraphqlClient } from '../support/client.ts'
import { SCHEMA } from './schema-walk.ts'

export const MUTATIONS = Object.values(SCHEMA.getMutationType()!.getFields()).map(({ name }) => name)

const ERRORS =
  '... on Error { code message } ... on InvalidInputError { issues { path message } } ... on NotFoundError { path }'

export const inputTypeOf = (name: string): string | undefined =>
  SCHEMA.getMutationType()!
    .getFields()
    [name]!.args.map(({ type }) => String(type))
    .at(0)

/** One document that calls mutations one after the other, each under its number: `m0`, `m1` … */
export function mutationDocument(names: readonly string[]): string {
  const types = names.map(inputTypeOf)
  const declared = types.flatMap((type, at) => (type ? [`$v${at}: ${type}`] : []))
  const calls = names.map(
    (name, at) => `m${at}: ${name}${types[at] ? `(input: $v${at})` : ''} { __typename ${ERRORS} }`,
  )
  return `mutation ${declared.length > 0 ? `(${declared.join(', ')})` : ''} { ${calls.join(' ')} }`
}

export const variablesOf = (inputs: readonly unknown[]): Record<string, unknown> =>
  Object.fromEntries(inputs.flatMap((input, at) => (input === undefined ? [] : [[`v${at}`, input]])))

export type Outcome = {
  __typename: string
  code?: string
  message?: string
  issues?: { path: string[]; message: string }[]
}

/** `ok`, the code of the union's error, or of the top-level error. */
export function codeOf({ data, errors }: Answer, at = 0): string {
  const outcome = data?.[`m${at}`] as Outcome | null | undefined
  if (outcome) return outcome.code ?? 'ok'
  const own = errors?.find(({ path }) => !path || path[0] === `m${at}`)
  return own?.extensions.code ?? 'nothing'
}

export async function perform(client: GraphqlClient, name: string, input?: object): Promise<string> {
  return codeOf(await client.send(mutationDocument([name]), variablesOf([input])))
}
