import type { Options } from './options.ts'
import type { Finding } from './report.ts'
import type { Stage } from './stage.ts'

/** Figures of the product alone, which nothing else does. */
export type Measuring = {
  /** For `--case`. */
  readonly name: string
  readonly title: string
  run(stage: Stage, options: Options): Promise<Finding[]>
}
