import { readFile } from 'node:fs/promises'
import { redisVersion, startRedis } from '../../support/redis.ts'
import { median } from '../compare.ts'
import { makeCrowd } from '../crowd.ts'
import { heapOf, INSPECTED } from '../heap.ts'
import type { Measuring } from '../measuring.ts'
import type { Options } from '../options.ts'
import { startProductWith } from '../product.ts'
import type { Finding } from '../report.ts'
import type { RoundsJob, RoundsOutcome } from '../room-load.ts'
import { cpuOf, databaseCpuMs } from '../server-cpu.ts'
import type { ServerProcess } from '../server-process.ts'
import type { Stage } from '../stage.ts'

/** What a frontend follows of a room of planning poker. */
const DOCUMENT = `subscription Follow($roomId: ID!) {
  roomEvents(roomId: $roomId) {
    __typename version at
    ... on RoomSnapshot {
      serverNow
      room {
        id title phase facilitator { id } presentUserIds timer { startedAt endsAt onEnd }
        participants { user { id displayName } guest spectator }
        poker {
          roundVersion revealed votedUserIds currentStory { id }
          stories { id title ref estimate position result { average mode consensus } }
        }
      }
    }
    ... on VoteCast { storyId roundVersion userId }
    ... on VoteCleared { storyId roundVersion userId }
    ... on RoundOpened { onTable: storyId roundVersion revealed waitingForIds }
    ... on RoundReset { storyId roundVersion waitingForIds }
    ... on RoundRevealed { storyId roundVersion reason votes { userId card } result { counted average mode consensus suggested } }
    ... on PresenceChanged { userIds }
  }
}`
/** Rounds of voting before the figures count, and the share of what is taken at most that the latencies are read at. */
const WARM_UP = 1
/** How many of a room vote in a round, and how many of them at once when they do not wait for each other. */
const VOTERS = 10
const AT_ONCE = 2
const QUIET_SHARE = 0.5
const STATEMENTS_SHOWN = 20

/** A server, or several, with a crowd of its own. */
type Side = { name: string; servers: ServerProcess[] }
type Played = RoundsOutcome & { serverMs: number; systemMs: number; databaseMs: number; loadMs: number }

/**
 * Many rooms at once: everybody in them has a stream and votes over the same socket, the host reveals and resets, round
 * after round. First as fast as the votes are taken, then half as many a second, by which the latencies count.
 */
export const rooms: Measuring = {
  name: 'rooms',
  title: 'rooms that vote and reveal all at once',
  async run(stage, options) {
    const findings: Finding[] = []
    const note = (what: string, value: number, unit: string) => void findings.push({ what, value, unit })
    const opened = new AsyncDisposableStack()
    try {
      const start = async (name: string, count: number, more: Parameters<typeof startProductWith>[1] = {}) => {
        const servers: ServerProcess[] = []
        while (servers.length < count) {
          const profiled = options.profile && name === ONE ? ['--cpu-prof', `--cpu-prof-dir=${options.profile}`] : []
          const server = await startProductWith(stage.appUrl, { flags: [INSPECTED, ...profiled], ...more })
          opened.defer(() => server.stop())
          servers.push(server)
        }
        return { name, servers }
      }
      opened.defer(async () => void (await stage.load.run('closeTeams', null)))
      const one = await start(ONE, 1)
      const against = options.baseline ? [await start(BASELINE, 1, { root: options.baseline })] : []
      if (redisVersion !== null && !options.baseline) {
        const redis = await startRedis()
        opened.defer(() => redis.remove())
        against.push(await start('two servers and Redis', 2, { env: { REDIS_URL: redis.url } }))
      }
      await stage.statements?.reset()
      for (const side of [one, ...against]) await seat(stage, options, side, note)
      await tellStatements(stage, 'opening')
      await compare(stage, options, [one, ...against], note)
      return findings
    } finally {
      await opened.disposeAsync()
    }
  },
}

const ONE = 'one server'
const BASELINE = 'the other checkout'

type Note = (what: string, value: number, unit: string) => void

/** What the database was busy with since the last time, for whoever asked to see it. */
async function tellStatements({ statements }: Stage, meanwhile: string): Promise<void> {
  const top = (await statements?.top(STATEMENTS_SHOWN)) ?? []
  if (top.length > 0) process.stderr.write(`${meanwhile}:\n`)
  for (const { text, calls, ms } of top) {
    process.stderr.write(`${ms.toFixed(0).padStart(8)} ms ${String(calls).padStart(8)}×  ${text.slice(0, 160)}\n`)
  }
  await statements?.reset()
}

/** Opens a stream for everybody, and says what they weigh. */
async function seat(stage: Stage, { rooms, people }: Options, { name, servers }: Side, note: Note): Promise<void> {
  const teams = await makeCrowd(stage.ownerUrl, stage.fixtures.orgId, { rooms, people })
  const weigh = async () => ({ rss: await sum(servers, residentOf), heap: await sum(servers, heapOf) })
  const before = await weigh()
  const { seconds } = await stage.load.run('openTeams', {
    ...{ group: name, urls: servers.map(({ url }) => `${url}/graphql`), teams, document: DOCUMENT },
  })
  const after = await weigh()
  const streams = rooms * people
  note(`${name}: streams opened`, streams / seconds, 'a second')
  note(`${name}: resident with ${streams} streams`, after.rss / MIB, `MiB, ${(before.rss / MIB).toFixed(0)} before`)
  note(`${name}: heap with them`, after.heap / MIB, `MiB, ${(before.heap / MIB).toFixed(0)} before`)
  note(`${name}: a stream`, (after.heap - before.heap) / streams / 1_024, 'KiB heap')
}

/** The sides in turn, round after round; each figure is the median over the rounds. */
async function compare(stage: Stage, options: Options, sides: readonly Side[], note: Note): Promise<void> {
  const rounds = Math.max(2, Math.floor(options.rounds / 3))
  const play = (side: Side, job: Partial<RoundsJob> = {}) =>
    played(stage, side, { group: side.name, rounds: 1, voters: VOTERS, atOnce: 1, pace: null, ...job })
  for (const side of sides) await play(side, { rounds: WARM_UP })
  await stage.statements?.reset()
  const fast = sides.map((): Played[] => [])
  const burst = sides.map((): Played[] => [])
  const quiet = sides.map((): Played[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [at, side] of sides.entries()) {
      const taken = await play(side)
      fast[at]!.push(taken)
      burst[at]!.push(await play(side, { atOnce: AT_ONCE }))
      quiet[at]!.push(await play(side, { pace: (QUIET_SHARE * taken.votes) / taken.seconds }))
    }
  }
  for (const [at, { name }] of sides.entries()) {
    const of = (all: Played[], figure: (one: Played) => number) => median(all.map(figure))
    const rate = ({ votes, seconds }: Played) => votes / seconds
    note(`${name}: votes, one of a room at a time`, of(fast[at]!, rate), 'a second')
    note(`${name}: votes, two of a room at once`, of(burst[at]!, rate), 'a second')
    note(
      `${name}: a vote`,
      of(fast[at]!, ({ serverMs }) => serverMs),
      'ms CPU of the server',
    )
    note(
      `${name}: of it the kernel’s`,
      of(fast[at]!, ({ systemMs }) => systemMs),
      'ms',
    )
    note(
      `${name}: and of the database`,
      of(fast[at]!, ({ databaseMs }) => databaseMs),
      'ms',
    )
    note(
      `${name}: and of this load`,
      of(fast[at]!, ({ loadMs }) => loadMs),
      'ms',
    )
    note(
      `${name}: a vote to a subscriber`,
      of(fast[at]!, ({ voteBytes }) => voteBytes),
      'bytes',
    )
    note(
      `${name}: beside it, by vote`,
      of(fast[at]!, ({ bytesOther }) => bytesOther),
      'bytes',
    )
    for (const quantile of ['p50', 'p95', 'p99'] as const) {
      note(
        `${name}: sent to delivered, ${quantile}`,
        of(quiet[at]!, ({ delivery }) => delivery[quantile]),
        'ms',
      )
    }
    note(
      `${name}: sent to answered, p50`,
      of(quiet[at]!, ({ answer }) => answer.p50),
      'ms',
    )
    note(
      `${name}: a reveal to a subscriber, p99`,
      of(quiet[at]!, ({ reveal }) => reveal.p99),
      'ms',
    )
  }
  for (const [at, { name }] of sides.entries()) {
    if (at === 0) continue
    const share = (all: Played[][], figure: (one: Played) => number) =>
      median(all[0]!.map((one, round) => figure(one) / figure(all[at]![round]!)))
    note(
      `${ONE} by ${name}: votes a second`,
      share(fast, ({ votes, seconds }) => votes / seconds),
      '×',
    )
    note(
      `${ONE} by ${name}: two of a room at once`,
      share(burst, ({ votes, seconds }) => votes / seconds),
      '×',
    )
    note(
      `${ONE} by ${name}: CPU of a vote`,
      share(fast, ({ serverMs }) => serverMs),
      '×',
    )
    note(
      `${ONE} by ${name}: the database’s`,
      share(fast, ({ databaseMs }) => databaseMs),
      '×',
    )
    note(
      `${ONE} by ${name}: p99 of delivery`,
      share(quiet, ({ delivery }) => delivery.p99),
      '×',
    )
  }
  await tellStatements(stage, 'voting')
}

async function played({ load, postmaster }: Stage, { servers }: Side, job: RoundsJob): Promise<Played> {
  const measured = async () => ({
    serverMs: await sum(servers, async ({ pid }) => total(await cpuOf(pid))),
    systemMs: await sum(servers, async ({ pid }) => (await cpuOf(pid)).systemMs),
    databaseMs: await databaseCpuMs(postmaster),
    loadMs: total(await cpuOf(load.pid)),
  })
  const before = await measured()
  const outcome = await load.run('playRounds', job)
  const after = await measured()
  const each = (key: keyof typeof before) => (after[key] - before[key]) / outcome.votes
  return {
    ...outcome,
    ...{ serverMs: each('serverMs'), systemMs: each('systemMs') },
    ...{ databaseMs: each('databaseMs'), loadMs: each('loadMs') },
  }
}

const MIB = 1_048_576
const total = ({ userMs, systemMs }: { userMs: number; systemMs: number }) => userMs + systemMs

async function sum<T>(all: readonly T[], figure: (one: T) => Promise<number>): Promise<number> {
  return (await Promise.all(all.map(figure))).reduce((whole, part) => whole + part, 0)
}

/** Bytes of a process that are in memory. */
async function residentOf({ pid }: ServerProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1_024
}
