import type { Case } from './case.ts'
import { authentication } from './cases/authentication.ts'
import { board } from './cases/board.ts'
import { fanOut } from './cases/fan-out.ts'
import { list } from './cases/list.ts'
import { node } from './cases/node.ts'
import { vote } from './cases/vote.ts'
import { measure } from './compare.ts'
import { feed } from './measurements/feed.ts'
import { memory } from './measurements/memory.ts'
import { rooms } from './measurements/rooms.ts'
import { webhooks } from './measurements/webhooks.ts'
import type { Measuring } from './measuring.ts'
import { type Options, readOptions } from './options.ts'
import { type Measurement, machine, printed, type Report, type Result, resultOf } from './report.ts'
import { CONNECTIONS, type Stage, setStage } from './stage.ts'

// `npm run bench`: how much of what the machine can do is left when the product does it. A missed target is a line of the
// report and no failure; a wrong answer is one.

const CASES: readonly Case[] = [node, list, board, vote, fanOut, authentication]
const MEASUREMENTS: readonly Measuring[] = [rooms, memory, webhooks, feed]

const options = readOptions(process.argv.slice(2))
const report = await runAll(chosen(options, CASES), chosen(options, MEASUREMENTS))
process.stdout.write(`${options.json ? JSON.stringify(report, null, 2) : printed(report)}\n`)

function chosen<T extends { name: string }>({ cases }: Options, all: readonly T[]): readonly T[] {
  const names = [...CASES, ...MEASUREMENTS].map(({ name }) => name)
  const unknown = cases.filter((name) => !names.includes(name))
  if (unknown.length > 0) throw new TypeError(`There is no case ${unknown.join(', ')}, but ${names.join(', ')}.`)
  return cases.length === 0 ? all : all.filter(({ name }) => cases.includes(name))
}

async function runAll(cases: readonly Case[], measurings: readonly Measuring[]): Promise<Report> {
  const stage = await setStage(options)
  try {
    const results: Result[] = []
    for (const one of cases) {
      if (!options.json) process.stderr.write(`${one.title} …\n`)
      results.push(
        await runCase(one, stage).catch((error: unknown) => {
          process.stderr.write(`${stage.product.lastWords()}\n`)
          throw error
        }),
      )
    }
    const measurements: Measurement[] = []
    for (const { name, title, run } of measurings) {
      if (!options.json) process.stderr.write(`${title} …\n`)
      measurements.push({ name, title, findings: await run(stage, options) })
    }
    const { rounds, requests, subscribers, events, rooms, people } = options
    return {
      machine: machine(stage.postgres),
      scale: { rounds, requests, subscribers, events, rooms, people },
      connections: CONNECTIONS,
      results,
      measurements,
    }
  } finally {
    await stage.close()
  }
}

async function runCase(one: Case, stage: Stage): Promise<Result> {
  const { contenders, units, end, note } = await one.set(stage, options)
  const rounds = await measure(contenders, { rounds: options.rounds, units, postmaster: stage.postmaster })
  await end?.()
  const names = contenders.map(({ name }) => name)
  return resultOf(one, names, rounds, note)
}
