import { cpuOf, databaseCpuMs } from './server-cpu.ts'
import type { ServerProcess } from './server-process.ts'

/** One of those that are compared: a server, and how it is made to work. */
export type Contender = {
  readonly name: string
  readonly server: ServerProcess
  /** Units of work before the first round, until the code that runs is compiled. */
  readonly warmUp: number
  /** Makes it do so many units of work, each checked. */
  run(units: number): Promise<Timing>
}

export type Timing = { seconds: number; p50: number; p99: number }

/** Of one contender in one round. CPU time is for one unit of work; `systemMs` is the kernel's part of `cpuMs`. */
export type Measured = {
  cpuMs: number
  systemMs: number
  databaseMs: number
  perSecond: number
  p50: number
  p99: number
}

export type Plan = { rounds: number; units: number; postmaster: number }

/** Runs the contenders in turn, round after round, so that what disturbs one disturbs all. */
export async function measure(contenders: readonly Contender[], plan: Plan): Promise<Measured[][]> {
  for (const contender of contenders) await contender.run(contender.warmUp)
  const rounds = contenders.map((): Measured[] => [])
  for (let round = 0; round < plan.rounds; round++) {
    for (const [at, contender] of contenders.entries()) rounds[at]!.push(await once(contender, plan))
  }
  return rounds
}

async function once({ server, run }: Contender, { units, postmaster }: Plan): Promise<Measured> {
  const [cpuBefore, databaseBefore] = [await cpuOf(server.pid), await databaseCpuMs(postmaster)]
  const { seconds, p50, p99 } = await run(units)
  const [cpu, database] = [await cpuOf(server.pid), await databaseCpuMs(postmaster)]
  const systemMs = (cpu.systemMs - cpuBefore.systemMs) / units
  return {
    cpuMs: (cpu.userMs - cpuBefore.userMs) / units + systemMs,
    systemMs,
    databaseMs: (database - databaseBefore) / units,
    perSecond: units / seconds,
    p50,
    p99,
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
