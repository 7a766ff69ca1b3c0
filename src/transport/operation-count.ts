import type { ExecutionResult, GraphQLError } from 'graphql'
import { operationSeconds } from '../lib/metrics.ts'

export type CountedKind = 'query' | 'mutation' | 'subscription' | 'none'

/** Begins to time one operation; the call of what it gives counts it, once. `none`: it came to no operation. */
export class OperationCount {
  kind: CountedKind = 'none'
  readonly #began = performance.now()
  #counted = false

  end(errors: ExecutionResult['errors'] | undefined): void {
    if (this.#counted) return
    this.#counted = true
    operationSeconds.observe({ kind: this.kind, code: codeOf(errors) }, (performance.now() - this.#began) / 1_000)
  }
}

/** The first error's code. Ours are few and fixed; every error that is shown has one. */
function codeOf(errors: readonly GraphQLError[] | undefined): string {
  if (!errors || errors.length === 0) return 'OK'
  const { code } = errors[0]?.extensions ?? {}
  return typeof code === 'string' ? code : 'INTERNAL'
}
