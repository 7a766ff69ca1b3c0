import type { Contender } from './compare.ts'
import type { Options } from './options.ts'
import type { Figures } from './report.ts'
import type { Stage } from './stage.ts'

/** One comparison. The first contender is the product; a figure is how much of another's speed it reaches. */
export type Case = {
  /** For `--case`. */
  readonly name: string
  readonly title: string
  /** What is counted: `request` or `event`. */
  readonly unit: string
  /** Which of the contenders it is compared with, and what share of their speed it is to reach. */
  readonly comparisons: readonly Comparison[]
  set(stage: Stage, options: Options): Promise<Setting>
}

export type Comparison = { readonly against: string; readonly target?: number }

export type Setting = {
  contenders: readonly Contender[]
  units: number
  /** Checks what is left when all has run, and clears up. */
  end?(): Promise<void>
  /** What a reader should know beside the figures, which are those of the contenders in their order. */
  note?(contenders: readonly Figures[]): string
}
