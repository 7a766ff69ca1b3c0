import { askOverHttp } from './http-load.ts'
import type { Jobs, Reply, Request } from './load-process.ts'
import { Teams } from './room-load.ts'
import { Subscribers } from './socket-load.ts'

// The load process: does one job at a time for the process that forked it, and ends with it.

const subscribers = new Subscribers()
const teams = new Teams()
const work: { [Kind in keyof Jobs]: (job: Jobs[Kind]['job']) => Promise<Jobs[Kind]['outcome']> } = {
  http: askOverHttp,
  openSockets: (job) => subscribers.open(job),
  broadcast: (job) => subscribers.broadcast(job),
  closeSockets: () => subscribers.close(),
  openTeams: (job) => teams.open(job),
  playRounds: (job) => teams.play(job),
  closeTeams: () => teams.close(),
}

process.on('message', ({ kind, job }: Request) => {
  const answer = (reply: Reply) => process.send?.(reply)
  work[kind](job as never).then(
    (outcome) => answer({ outcome }),
    (error: Error) => answer({ fault: error.message }),
  )
})
process.once('disconnect', () => process.exit())
