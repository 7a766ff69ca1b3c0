import type { ParseArgsOptionsConfig } from 'node:util'

/** Where a command writes. Secrets go to `print` alone, which is standard output, and only once. */
export type Terminal = {
  readonly json: boolean
  /** The result: words for a person, or with `--json` the object on one line. */
  print(words: string, object: object): void
  /** What a person may want to know beside it; standard error, and nothing with `--json`. */
  note(words: string): void
}

export type Values = Record<string, string | boolean | undefined>

export type Command = {
  readonly options: ParseArgsOptionsConfig
  /** The name of the one word that stands behind the command, if it takes one. */
  readonly argument?: string
  run(values: Values, terminal: Terminal): Promise<void>
}

/** The command line itself is wrong: exit 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** What was asked for is refused: exit 1. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly code: string
  constructor(message: string, code = 'REFUSED') {
    super(message)
    this.code = code
  }
}

/** An option, or the word behind the command, that must be there. */
export function required(values: Values, name: string, shown = `--${name}`): string {
  const value = values[name]
  if (typeof value !== 'string' || value === '') throw new UsageError(`${shown} is missing.`)
  return value
}
