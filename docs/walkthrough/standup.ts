import { setTimeout as delay } from 'node:timers/promises'
import type { ResultOf } from '@graphql-typed-document-node/core'
import { END_ROOM } from './people-documents.ts'
import { granted, type Person, present } from './person.ts'
import { RoomLog, Seat } from './room-log.ts'
import { chapter, say } from './say.ts'
import {
  ANSWER,
  ANSWER_AHEAD,
  CALENDAR,
  COMMIT,
  FOLLOW_STANDUP,
  NEXT,
  SCHEDULE,
  SLOTS,
  START,
  THANK,
  TREND,
} from './standup-documents.ts'

type StandupEvent = ResultOf<typeof FOLLOW_STANDUP>['roomEvents']
type Answer = { yesterday?: string; today: string; blockers?: string }
/** Who writes what; `ahead` before it opens, and without coming. */
export type Cast = { host: Person; ahead: Person; members: readonly Person[] }

const MINUTE = 60_000
/** What is done before the schedule opens must fit into this. */
const LEAD = 8_000

/** A standup that opens by itself, with an answer given ahead, a round of speaking, and what is left of it. */
export async function holdStandup({ host, ahead, members }: Cast, spaceId: string): Promise<void> {
  chapter('A standup by schedule')
  const opensAt = new Date(Math.ceil((Date.now() + LEAD) / MINUTE) * MINUTE)
  const openTime = opensAt.toISOString().slice(11, 16)
  const schedule = await setSchedule(host, { spaceId, openTime, enabled: true })
  say(`${host.name} lets a standup open every day at ${openTime} UTC, for half an hour.`)
  const day = present(schedule.nextOpenAt).slice(0, 10)
  const early = { yesterday: 'Wrote the export.', today: 'On a train, writing its tests.' }
  granted((await ahead.ask(ANSWER_AHEAD, { input: { scheduleId: schedule.id, day, ...early } })).standupAheadPut)
  say(`${ahead.name} will not be there and answers ahead, which nobody else sees before.`)

  const roomId = await opened(host, spaceId)
  say('The minute comes, and it opens by itself.')
  const log = new RoomLog(host, FOLLOW_STANDUP, roomId, narrator())
  await log.reaches({ version: '1' })
  const seats: Seat[] = []
  for (const member of members) {
    const seat = new Seat(member, FOLLOW_STANDUP, roomId)
    seats.push(seat)
    await log.reaches(await seat.taken)
  }

  await answer(log, roomId, host, { today: 'Reviewing the export.' })
  await answer(log, roomId, members[0] as Person, { today: 'Search by label.', blockers: 'No test data.' })
  await speak(log, roomId, host)
  await closingBeat(log, { roomId, spaceId }, host, members[0] as Person)
  say(`${host.name} closes the standup.`)
  const { room } = granted((await host.ask(END_ROOM, { input: { roomId } })).roomEnd)
  await log.reaches(room)
  for (const seat of seats) seat.leave()
  log.close()
  await tellWhatIsLeft(host, spaceId)
  await setSchedule(host, { spaceId, openTime, enabled: false })
  say(`${host.name} turns the schedule off again.`)
}

async function setSchedule(host: Person, set: { spaceId: string; openTime: string; enabled: boolean }) {
  const input = { ...set, weekdays: [0, 1, 2, 3, 4, 5, 6], timezone: 'UTC', windowMinutes: 30 }
  return present(granted((await host.ask(SCHEDULE, { input })).standupScheduleSet).schedule)
}

/** A frontend could follow `activityFeed` instead, where `standup.opened` comes. */
async function opened(host: Person, spaceId: string): Promise<string> {
  for (;;) {
    const { space } = await host.ask(SLOTS, { spaceId })
    const [slot] = present(space?.schedule).slots.nodes
    if (slot?.room) return slot.room.id
    if (slot) throw new TypeError(`the standup did not open: ${slot.outcome}`)
    await delay(500)
  }
}

async function answer(log: RoomLog<StandupEvent>, roomId: string, person: Person, entry: Answer): Promise<void> {
  say(`${person.name} answers.`)
  const { room } = granted((await person.ask(ANSWER, { input: { roomId, ...entry } })).standupEntryPut)
  await log.reaches(room)
}

/** Round the table, until nobody is left to speak. */
async function speak(log: RoomLog<StandupEvent>, roomId: string, host: Person): Promise<void> {
  say(`${host.name} asks everybody to speak, in the order they came.`)
  let { room } = granted((await host.ask(START, { input: { roomId, order: 'JOINED' } })).standupStart)
  for (;;) {
    await log.reaches(room)
    const expectedSpeakerId = present(present(room).standup).currentSpeakerId
    if (!expectedSpeakerId) return
    ;({ room } = granted((await host.ask(NEXT, { input: { roomId, expectedSpeakerId } })).standupNext))
  }
}

/** What each takes on until next time, and thanks. */
async function closingBeat(
  log: RoomLog<StandupEvent>,
  { roomId, spaceId }: { roomId: string; spaceId: string },
  host: Person,
  member: Person,
): Promise<void> {
  say(`${member.name} takes something on.`)
  const { room } = granted((await member.ask(COMMIT, { input: { roomId, text: 'Search finds labels' } })).commitmentAdd)
  await log.reaches(room)
  say(`${host.name} thanks ${member.name}.`)
  const input = { roomId, spaceId, userId: member.id, text: 'for asking early' }
  const { kudos } = granted((await host.ask(THANK, { input })).kudosGive)
  await log.reaches(kudos?.room)
}

async function tellWhatIsLeft(host: Person, spaceId: string): Promise<void> {
  const [week] = present((await host.ask(TREND, { spaceId })).standupTrend)
  const share = week?.answeredPercent
  say(`This week ${share == null ? 'too few were there for a figure' : `${share} % answered`}.`)
  const { url } = granted((await host.ask(CALENDAR, { input: { remindMinutes: 5 } })).calendarFeedMint)
  const feed = await (await fetch(url)).text()
  say(`${host.name} puts the schedule into a calendar:`)
  for (const line of feed.split('\r\n')) if (/^(SUMMARY|RRULE:FREQ=WEEKLY|TRIGGER)/.test(line)) say(`  ${line}`)
}

/** Puts events in words, and remembers who is who: some of them have ids alone. */
function narrator(): (event: StandupEvent) => string | null {
  const names = new Map<string, string>()
  const nameOf = (user: { id: string; displayName: string } | null | undefined) => {
    if (user) names.set(user.id, user.displayName)
    return user?.displayName ?? 'somebody'
  }
  return (event) => {
    nameOf(event.actor)
    switch (event.__typename) {
      case 'RoomSnapshot': {
        for (const { user } of event.room?.participants ?? []) nameOf(user)
        const entries = event.room?.standup?.entries ?? []
        const told = entries.map(({ user, today }) => `${nameOf(user)}: ${today}`)
        return `a snapshot: "${event.room?.title}", ${told.join('; ')}`
      }
      case 'ParticipantJoined':
        return `${nameOf(event.participant.user)} came`
      case 'EntryChanged': {
        const { user, today, blockers } = event.entry
        return `${nameOf(user)}: ${today}${blockers && ` In the way: ${blockers}`}`
      }
      case 'SpeakingStarted':
        return `the order is ${event.order.map(({ userId }) => names.get(userId)).join(', ')}`
      case 'SpeakerChanged':
        return event.speakerId ? `${names.get(event.speakerId)} speaks` : 'all have spoken'
      case 'CommitmentChanged':
        return `${nameOf(event.commitment.user)} takes on: ${event.commitment.text}`
      case 'KudosGiven':
        return `kudos from ${nameOf(event.kudos.from)} to ${nameOf(event.kudos.to)}, ${event.kudos.text}`
      case 'RoomPhaseChanged':
        return `the room is ${event.phase}`
      default:
        return null
    }
  }
}
