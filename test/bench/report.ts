import { cpus } from 'node:os'
import type { Case, Setting } from './case.ts'
import { type Measured, median } from './compare.ts'
import type { Scale } from './options.ts'

export type Figures = Measured & { name: string }
export type Ratio = { against: string; median: number; least: number; greatest: number }

export type Result = {
  name: string
  title: string
  unit: string
  contenders: Figures[]
  /** Share of the other's speed that the product reaches: the other's CPU time by the product's, in the same round. */
  ratio: Ratio
  target: number | null
  hit: boolean | null
  note: string | null
}

export type Report = {
  machine: { cpus: number; model: string; node: string; postgres: string }
  scale: Scale
  connections: number
  results: Result[]
}

export function resultOf(
  { name, title, unit, against, target }: Case,
  names: readonly string[],
  rounds: readonly Measured[][],
  note: Setting['note'],
): Result {
  const middle = (measured: readonly Measured[], key: keyof Measured) => median(measured.map((round) => round[key]))
  const contenders = rounds.map((measured, at) => ({
    name: names[at]!,
    cpuMs: middle(measured, 'cpuMs'),
    systemMs: middle(measured, 'systemMs'),
    databaseMs: middle(measured, 'databaseMs'),
    perSecond: middle(measured, 'perSecond'),
    p50: middle(measured, 'p50'),
    p99: middle(measured, 'p99'),
  }))
  const other = rounds[names.indexOf(against)]!
  const ratios = rounds[0]!.map(({ cpuMs }, round) => other[round]!.cpuMs / cpuMs)
  const ratio = { against, median: median(ratios), least: Math.min(...ratios), greatest: Math.max(...ratios) }
  const hit = target === undefined ? null : ratio.median >= target
  return { name, title, unit, contenders, ratio, target: target ?? null, hit, note: note?.(contenders) ?? null }
}

export function machine(postgres: string): Report['machine'] {
  const all = cpus()
  return { cpus: all.length, model: all[0]?.model.trim() ?? '', node: process.version, postgres }
}

const COLUMNS = ['CPU ms', 'of it system', 'database ms', 'per second', 'p50 ms', 'p99 ms'] as const
const NAME_WIDTH = 34

/** For the terminal. */
export function printed({ machine: { cpus, node, postgres }, scale, connections, results }: Report): string {
  const head = `${cpus} CPUs, Node ${node}, PostgreSQL ${postgres}; ${connections} connections, medians of ${scale.rounds} rounds`
  return [head, '', ...results.flatMap((result) => [...table(result), ''])].join('\n')
}

function table({ title, unit, contenders, ratio, target, hit, note }: Result): string[] {
  const numbers = ({ cpuMs, systemMs, databaseMs, perSecond, p50, p99 }: Figures) => [
    cpuMs.toFixed(3),
    systemMs.toFixed(3),
    databaseMs.toFixed(3),
    Math.round(perSecond).toString(),
    p50.toFixed(1),
    p99.toFixed(1),
  ]
  const row = (name: string, cells: readonly string[]) =>
    name.padEnd(NAME_WIDTH) + cells.map((cell) => cell.padStart(13)).join('')
  const share = `${ratio.median.toFixed(2)}× ${ratio.against} (rounds ${ratio.least.toFixed(2)} to ${ratio.greatest.toFixed(2)})`
  const verdict = target === null ? '' : `, target ≥ ${target}×: ${hit ? 'hit' : 'MISSED'}`
  return [
    row(`${title}, by ${unit}`, COLUMNS),
    ...contenders.map((figures) => row(`  ${figures.name}`, numbers(figures))),
    `  ${share}${verdict}`,
    ...(note === null ? [] : [`  ${note}`]),
  ]
}
