import type { Team } from './crowd.ts'
import { CARDS } from './fixtures.ts'
import { quantile } from './http-load.ts'
import { type Person, Seat, type Told } from './seat.ts'

export type TeamsJob = {
  group: string
  /** The people of a room sit at these in turn. */
  urls: string[]
  teams: Team[]
  /** What each of them subscribes to. */
  document: string
}

export type RoundsJob = {
  group: string
  rounds: number
  /** How many of a room vote in a round; they take turns. */
  voters: number
  /** How many of a room have a vote on its way at once; all rooms play at the same time. */
  atOnce: number
  /** Votes a second of all rooms together, each at its time whatever became of those before; null: as many as are taken. */
  pace: number | null
}

/** The quantiles are milliseconds from sending a vote to its arrival at one subscriber, or to its answer. */
export type RoundsOutcome = {
  votes: number
  seconds: number
  delivery: Quantiles
  answer: Quantiles
  /** From the host's reveal to its arrival at one subscriber. */
  reveal: Quantiles
  /** Bytes and frames that one subscriber got for one vote; what else came in that time is in `bytesOther`. */
  voteBytes: number
  bytesOther: number
}

export type Quantiles = { p50: number; p95: number; p99: number }

const OPENING_AT_ONCE = 40
const PATIENCE = 60_000
const OUTCOME = '__typename ... on Error { code message }'
const VOTE = `mutation ($input: VoteCastInput!) { voteCast(input: $input) { ${OUTCOME} } }`
const REVEAL = `mutation ($input: RoomRevealInput!) { roomReveal(input: $input) { ${OUTCOME} } }`
const RESET = `mutation ($input: RoomResetInput!) { roomReset(input: $input) { ${OUTCOME} } }`

/** Teams at their tables, one socket a person, as a frontend keeps it: it subscribes and it votes. */
export class Teams {
  readonly #groups = new Map<string, Table[]>()

  async open({ group, urls, teams, document }: TeamsJob): Promise<{ seconds: number }> {
    const tables = teams.map((team) => new Table(team))
    // People come to their rooms in no order, and not one room after the other.
    const waiting = tables
      .flatMap((table, at) =>
        teams[at]!.people.map((person, seat) => ({ table, person, seat, url: urls[seat % urls.length]! })),
      )
      .sort((one, other) => one.seat - other.seat)
      .values()
    const started = performance.now()
    await Promise.all(
      Array.from({ length: OPENING_AT_ONCE }, async () => {
        for (const { table, person, url } of waiting) await table.seat(url, person, document)
      }),
    )
    this.#groups.set(group, tables)
    return { seconds: (performance.now() - started) / 1_000 }
  }

  async play({ group, pace, ...job }: RoundsJob): Promise<RoundsOutcome> {
    const tables = this.#groups.get(group)!
    const tally = new Tally()
    for (const table of tables) table.tally = tally
    const started = performance.now()
    await Promise.all(tables.map((table) => table.play({ ...job, pace: pace && pace / tables.length })))
    return tally.outcome((performance.now() - started) / 1_000)
  }

  async close(): Promise<null> {
    for (const table of [...this.#groups.values()].flat()) table.close()
    this.#groups.clear()
    return null
  }
}

class Tally {
  readonly deliveries: number[] = []
  readonly answers: number[] = []
  readonly reveals: number[] = []
  votes = 0
  voteBytes = 0
  otherBytes = 0

  outcome(seconds: number): RoundsOutcome {
    const of = (times: number[]): Quantiles => ({
      p50: quantile(times, 0.5),
      p95: quantile(times, 0.95),
      p99: quantile(times, 0.99),
    })
    const deliveries = this.deliveries.length
    return {
      votes: this.votes,
      seconds,
      delivery: of(this.deliveries),
      answer: of(this.answers),
      reveal: of(this.reveals),
      voteBytes: this.voteBytes / deliveries,
      bytesOther: this.otherBytes / deliveries,
    }
  }
}

class Table {
  readonly #team: Team
  readonly #seats: Seat[] = []
  /** When each vote that is on its way was sent, by who cast it, and how many have not heard of it. */
  readonly #votes = new Map<string, { sent: number; missing: number; arrived(): void }>()
  #awaited: { type: string; sent: number; missing: number; arrived(told: Told): void } | undefined
  #round: string
  #next = 0
  #turn = 0
  tally = new Tally()

  constructor(team: Team) {
    this.#team = team
    this.#round = team.roundVersion
  }

  async seat(url: string, person: Person, document: string): Promise<void> {
    const seat = new Seat(person, (told, bytes) => this.#hear(told, bytes))
    this.#seats.push(seat)
    await seat.open(url, document, { roomId: this.#team.roomId })
  }

  async play({ rounds, voters, atOnce, pace }: Omit<RoundsJob, 'group'>): Promise<void> {
    // Rooms that begin together would vote and reveal together.
    if (pace) await until(performance.now() + Math.random() * (1_000 / pace))
    for (let round = 0; round < rounds; round++) {
      const voting = Array.from({ length: voters }, () => this.#seats[this.#next++ % this.#seats.length]!)
      if (pace) await this.#votePaced(voting, pace)
      else await this.#voteInTurn(voting, atOnce)
      const { roomId } = this.#team
      await this.#everybodyHears('RoundRevealed', REVEAL, { roomId, roundVersion: this.#round })
      const { roundVersion } = await this.#everybodyHears('RoundReset', RESET, { roomId })
      this.#round = roundVersion!
    }
  }

  close(): void {
    for (const seat of this.#seats) seat.close()
  }

  async #voteInTurn(seats: readonly Seat[], atOnce: number): Promise<void> {
    const waiting = seats.values()
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (const seat of waiting) await this.#vote(seat)
      }),
    )
  }

  async #votePaced(seats: readonly Seat[], pace: number): Promise<void> {
    const started = performance.now()
    await Promise.all(
      seats.map(async (seat, at) => {
        await until(started + ((at + Math.random()) * 1_000) / pace)
        await this.#vote(seat)
      }),
    )
  }

  /** Until it is answered and everybody in the room has heard of it. */
  async #vote(seat: Seat): Promise<void> {
    const { roomId, storyId } = this.#team
    const card = CARDS[this.#turn++ % CARDS.length]!
    const sent = performance.now()
    const arrived = new Promise<void>((resolve) =>
      this.#votes.set(seat.person.id, { sent, missing: this.#seats.length, arrived: resolve }),
    )
    const answered = seat.ask(VOTE, { roomId, storyId, roundVersion: this.#round, card }).then(() => {
      this.tally.answers.push(performance.now() - sent)
    })
    await inTime(Promise.all([answered, arrived]), 'a vote')
    this.tally.votes += 1
  }

  async #everybodyHears(type: string, document: string, input: object): Promise<Told> {
    const arrived = new Promise<Told>((resolve) => {
      this.#awaited = { type, sent: performance.now(), missing: this.#seats.length, arrived: resolve }
    })
    const [told] = await inTime(Promise.all([arrived, this.#seats[0]!.ask(document, input)]), type)
    return told
  }

  #hear(told: Told, bytes: number): void {
    const now = performance.now()
    if (told.__typename !== 'VoteCast') this.tally.otherBytes += bytes
    else {
      this.tally.voteBytes += bytes
      const vote = this.#votes.get(told.userId!)!
      this.tally.deliveries.push(now - vote.sent)
      vote.missing -= 1
      if (vote.missing === 0) vote.arrived()
    }
    const awaited = this.#awaited
    if (told.__typename !== awaited?.type) return
    if (awaited.type === 'RoundRevealed') this.tally.reveals.push(now - awaited.sent)
    awaited.missing -= 1
    if (awaited.missing === 0) awaited.arrived(told)
  }
}

const until = (time: number) => new Promise((resolve) => setTimeout(resolve, time - performance.now()))

function inTime<T>(work: Promise<T>, what: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`${what} did not reach everybody`)), PATIENCE)
  return Promise.race([work, promise]).finally(() => clearTimeout(timer))
}
