import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { HttpJob, HttpOutcome } from './http-load.ts'
import type { RoundsJob, RoundsOutcome, TeamsJob } from './room-load.ts'
import type { BroadcastJob, BroadcastOutcome, SocketsJob } from './socket-load.ts'

/** What the load can be told to do, and what it answers. */
export type Jobs = {
  http: { job: HttpJob; outcome: HttpOutcome }
  /** Opens subscribers, which stay; answers with how many bytes a frame has. */
  openSockets: { job: SocketsJob; outcome: null }
  broadcast: { job: BroadcastJob; outcome: BroadcastOutcome }
  closeSockets: { job: null; outcome: null }
  /** Seats everybody at their tables, where they stay. */
  openTeams: { job: TeamsJob; outcome: { seconds: number } }
  playRounds: { job: RoundsJob; outcome: RoundsOutcome }
  closeTeams: { job: null; outcome: null }
}

export type LoadProcess = {
  readonly pid: number
  run<Kind extends keyof Jobs>(kind: Kind, job: Jobs[Kind]['job']): Promise<Jobs[Kind]['outcome']>
  stop(): Promise<void>
}

export type Request = { kind: keyof Jobs; job: unknown }
export type Reply = { outcome: unknown } | { fault: string }

/** A process of its own, so that asking costs the servers nothing but the requests. One job at a time. */
export function startLoad(): LoadProcess {
  const child = fork(`${import.meta.dirname}/load.ts`)
  let settle: ((reply: Reply) => void) | undefined
  child.on('message', (reply: Reply) => settle?.(reply))
  child.once('exit', () => settle?.({ fault: 'the load process ended' }))
  return {
    pid: child.pid as number,
    async run(kind, job) {
      if (!child.connected) throw new Error('the load process has ended')
      const reply = await new Promise<Reply>((resolve) => {
        settle = resolve
        child.send({ kind, job } satisfies Request)
      })
      if ('fault' in reply) throw new Error(reply.fault)
      return reply.outcome as never
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
