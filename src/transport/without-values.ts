import type { GraphQLError } from 'graphql'
import { redactText } from '../lib/redact.ts'

/**
 * What GraphQL says of a document or its variables, without the values that it quotes: with one field misspelled it would
 * tell the whole input, passwords included (PLAT-23, 59).
 */
export function messageWithoutValues({ message, originalError }: GraphQLError): string {
  const reason = originalError?.message
  const [, variable] = /^(Variable "\$\w+") got invalid value /.exec(message) ?? []
  if (variable === undefined) return redactText(reasonWithoutValues(message))
  if (reason === undefined || !message.endsWith(`; ${reason}`)) return `${variable} got an invalid value.`
  const [place = ''] = / at "[^"]*"$/.exec(message.slice(0, -reason.length - 2)) ?? []
  return redactText(`${variable} got an invalid value${place}; ${reasonWithoutValues(reason)}`)
}

const QUOTED: readonly [RegExp, string][] = [
  [/^((?:Enum "\w+"|\w+) cannot represent [\w -]*value): .*$/s, '$1.'],
  [/^Value .* does not exist in ("\w+" enum\.)/s, 'The value does not exist in $1'],
  [/^(Expected value of type "[^"]+"), found .*?(; expected [^;]*)?$/s, '$1$2'],
  [/\b(found|Unexpected) (String|BlockString|Int|Float) ".*"/s, '$1 $2'],
]

function reasonWithoutValues(reason: string): string {
  for (const [pattern, replacement] of QUOTED) {
    if (pattern.test(reason)) return reason.replace(pattern, replacement)
  }
  return reason
}
