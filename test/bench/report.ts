import { cpus } from 'node:os'
import type { Case, Setting } from './case.ts'
import { type Measured, median } from './compare.ts'
import type { Scale } from './options.ts'

export type Figures = Measured & { name: string }
/** Share of the other's speed that the product reaches: the other's CPU time by the product's, in the same round. */
export type Ratio = {
  against: string
  median: number
  least: number
  greatest: number
  target: number | null
  hit: boolean | null
}

export type Result = {
  name: string
  title: string
  unit: string
  contenders: Figures[]
  ratios: Ratio[]
  note: string | null
}

export type Report = {
  machine: { cpus: number; model: string; node: string; postgres: string }
  scale: Scale
  connections: number
  results: Result[]
  measurements: Measurement[]
}

/** What has no contender: a figure with its bound, if it has one. */
export type Finding = { what: string; value: number; unit: string; atMost?: number }
export type Measurement = { name: string; title: string; findings: Finding[] }

export function resultOf(
  { name, title, unit, comparisons }: Case,
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
  const ratios = comparisons.flatMap(({ against, target = null }) => {
    const other = rounds[names.indexOf(against)]
    if (!other) return [] // a peer that is not installed
    const all = rounds[0]!.map(({ cpuMs }, round) => other[round]!.cpuMs / cpuMs)
    const [middling, least, greatest] = [median(all), Math.min(...all), Math.max(...all)]
    return [{ against, median: middling, least, greatest, target, hit: target === null ? null : middling >= target }]
  })
  return { name, title, unit, contenders, ratios, note: note?.(contenders) ?? null }
}

export function machine(postgres: string): Report['machine'] {
  const all = cpus()
  return { cpus: all.length, model: all[0]?.model.trim() ?? '', node: process.version, postgres }
}

const COLUMNS = ['CPU ms', 'of it system', 'database ms', 'per second', 'p50 ms', 'p99 ms'] as const
const NAME_WIDTH = 34

/** For the terminal. */
export function printed({
  machine: { cpus, node, postgres },
  scale,
  connections,
  results,
  measurements,
}: Report): string {
  const head = `${cpus} CPUs, Node ${node}, PostgreSQL ${postgres}; ${connections} connections, medians of ${scale.rounds} rounds`
  const sections = [...results.map(table), ...measurements.map(list)]
  return [head, '', ...sections.flatMap((lines) => [...lines, ''])].join('\n')
}

function table({ title, unit, contenders, ratios, note }: Result): string[] {
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
  const share = ({ against, median: middle, least, greatest, target, hit }: Ratio) =>
    `  ${middle.toFixed(2)}× ${against} (rounds ${least.toFixed(2)} to ${greatest.toFixed(2)})` +
    (target === null ? '' : `, target ≥ ${target}×: ${hit ? 'hit' : 'MISSED'}`)
  return [
    row(`${title}, by ${unit}`, COLUMNS),
    ...contenders.map((figures) => row(`  ${figures.name}`, numbers(figures))),
    ...ratios.map(share),
    ...(note === null ? [] : [`  ${note}`]),
  ]
}

function list({ title, findings }: Measurement): string[] {
  const line = ({ what, value, unit, atMost }: Finding) =>
    `  ${what.padEnd(NAME_WIDTH + 10)}${value.toFixed(value < 100 ? 2 : 0).padStart(12)} ${unit}` +
    (atMost === undefined ? '' : `, target ≤ ${atMost}: ${value <= atMost ? 'hit' : 'MISSED'}`)
  return [title, ...findings.map(line)]
}
