import type { Case } from './case.ts'
import { authentication } from './cases/authentication.ts'
import { fanOut } from './cases/fan-out.ts'
import { list } from './cases/list.ts'
import { node } from './cases/node.ts'
import { vote } from './cases/vote.ts'
import { measure } from './compare.ts'
import { type Options, readOptions } from './options.ts'
import { machine, printed, type Report, type Result, resultOf } from './report.ts'
import { CONNECTIONS, type Stage, setStage } from './stage.ts'

// `npm run bench`: how much of what the machine can do is left when the product does it. A missed target is a line of the
// report and no failure; a wrong answer is one.

const CASES: readonly Case[] = [node, list, vote, fanOut, authentication]

const options = readOptions(process.argv.slice(2))
const report = await runAll(chosen(options))
process.stdout.write(`${options.json ? JSON.stringify(report, null, 2) : printed(report)}\n`)

function chosen({ cases }: Options): readonly Case[] {
  const names = CASES.map(({ name }) => name)
  const unknown = cases.filter((name) => !names.includes(name))
  if (unknown.length > 0) throw new TypeError(`There is no case ${unknown.join(', ')}, but ${names.join(', ')}.`)
  return cases.length === 0 ? CASES : CASES.filter(({ name }) => cases.includes(name))
}

async function runAll(cases: readonly Case[]): Promise<Report> {
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
    const { rounds, requests, subscribers, events } = options
    return {
      machine: machine(stage.postgres),
      scale: { rounds, requests, subscribers, events },
      connections: CONNECTIONS,
      results,
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
