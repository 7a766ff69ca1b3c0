import type { ResultOf } from '@graphql-typed-document-node/core'
import { END_ROOM, EXPORT, OPEN_ROOM } from './people-documents.ts'
import { granted, type Person, present } from './person.ts'
import { ADD_STORY, ESTIMATE, FOLLOW_POKER, MAKE_DECK, QUICK_VOTE, SELECT, VOTE } from './poker-documents.ts'
import { RoomLog, Seat } from './room-log.ts'
import { chapter, say } from './say.ts'

type PokerEvent = ResultOf<typeof FOLLOW_POKER>['roomEvents']
type Round = { storyId: string; roundVersion: string }
type Table = { roomId: string; host: Person; log: RoomLog<PokerEvent> }

/** Whoever comes by a link, with the room in which they may sit. */
export type Invite = (roomId: string) => Promise<Person>

/** A session of planning poker: a deck, two stories, votes that reveal by themselves, a quick vote, the result as CSV. */
export async function playPoker(host: Person, members: readonly Person[], spaceId: string, invite: Invite) {
  chapter('Planning poker')
  const deck = present(
    granted(
      (await host.ask(MAKE_DECK, { input: { spaceId, name: 'Days', cards: ['½', '1', '2', '3', '5', '8', '?'] } }))
        .deckCreate,
    ).deck,
  )
  say(`${host.name} makes a deck "${deck.name}" of ${deck.cards.join(' ')}.`)
  const input = {
    spaceId,
    kind: 'poker',
    title: 'Next sprint',
    config: { poker: { deck: { id: deck.id }, autoReveal: true } },
  }
  const room = present(granted((await host.ask(OPEN_ROOM, { input })).roomCreate).room)
  say(`${host.name} opens the room "${room.title}". What its stream tells stands indented from here on.`)
  const log = new RoomLog(host, FOLLOW_POKER, room.id, inWords)
  await log.reaches(room)
  const table: Table = { roomId: room.id, host, log }

  const first = await addStory(table, 'Search by label', 'WEB-1')
  const second = await addStory(table, 'Undo a merge', 'WEB-2')
  const guest = await invite(room.id)
  const people = [host, ...members, guest]
  const seats: Seat[] = []
  for (const person of people.slice(1)) {
    const seat = new Seat(person, FOLLOW_POKER, room.id)
    seats.push(seat)
    await log.reaches(await seat.taken)
  }

  await estimate(table, await select(table, first, '"Search by label"'), people, ['2', '3', '3', '5'])
  await estimate(table, await select(table, second, '"Undo a merge"'), people, ['8', '8', '8', '8'])
  await quickVote(table, people)

  const { roomCsv } = await host.ask(EXPORT, { roomId: room.id })
  say(`${host.name} takes the room out as CSV:`)
  for (const line of present(roomCsv).trimEnd().split(/\r?\n/)) say(`  ${line}`)
  say(`${host.name} ends the room.`)
  const ended = granted((await host.ask(END_ROOM, { input: { roomId: room.id } })).roomEnd)
  await log.reaches(ended.room)
  for (const seat of seats) seat.leave()
  log.close()
}

async function addStory({ roomId, host, log }: Table, title: string, ref: string): Promise<string> {
  say(`${host.name} adds a story.`)
  const { room, story } = granted((await host.ask(ADD_STORY, { input: { roomId, title, ref } })).storyAdd)
  await log.reaches(room)
  return present(story).id
}

async function select({ roomId, host, log }: Table, storyId: string, title: string): Promise<Round> {
  say(`${host.name} puts ${title} on the table.`)
  const { room } = granted((await host.ask(SELECT, { input: { roomId, storyId } })).roomSelect)
  await log.reaches(room)
  return { storyId, roundVersion: present(present(room).poker).roundVersion }
}

/** One after the other, so that a reader sees who waits for whom; the last vote reveals the round. */
async function vote({ roomId, log }: Table, round: Round, people: readonly Person[], cards: readonly string[]) {
  for (const [at, person] of people.entries()) {
    const card = cards[at % cards.length] as string
    say(`${person.name} votes.`)
    const { room, myCard } = granted((await person.ask(VOTE, { input: { roomId, ...round, card } })).voteCast)
    if (myCard !== card) throw new TypeError(`voted ${card}, and it became ${myCard}`)
    await log.reaches(room)
  }
}

async function estimate(table: Table, round: Round, people: readonly Person[], cards: readonly string[]) {
  await vote(table, round, people, cards)
  const value = cards.at(-1) as string
  say(`${table.host.name} writes ${value} down.`)
  const { room } = granted(
    (await table.host.ask(ESTIMATE, { input: { id: round.storyId, estimate: value } })).storyEstimate,
  )
  await table.log.reaches(room)
}

async function quickVote(table: Table, people: readonly Person[]) {
  say(`${table.host.name} asks for a quick vote, about nothing that is written down.`)
  const { room, story } = granted((await table.host.ask(QUICK_VOTE, { input: { roomId: table.roomId } })).roomQuickVote)
  await table.log.reaches(room)
  const { roundVersion } = present(present(room).poker)
  await vote(table, { storyId: present(story).id, roundVersion }, people, ['½', '1', '?', '1'])
}

const nameOf = (user: { displayName: string } | null | undefined) => user?.displayName ?? 'somebody'

/** What a frontend would show of an event. */
function inWords(event: PokerEvent): string | null {
  const actor = nameOf(event.actor)
  switch (event.__typename) {
    case 'RoomSnapshot':
      return `a snapshot: "${event.room?.title}" with ${event.room?.participants.length} of them in it`
    case 'ParticipantJoined':
      return `${nameOf(event.participant.user)} came${event.participant.guest ? ', as a guest' : ''}`
    case 'StoryAdded':
      return `a new story: ${[event.story.ref, event.story.title].filter(Boolean).join(' ')}`
    case 'RoundOpened':
      return `a new round, which waits for ${event.waitingForIds.length}`
    case 'VoteCast':
      return `${actor} has voted, and nobody else sees how`
    case 'RoundRevealed':
      return revealed(event)
    case 'StoryEstimated':
      return `the estimate is ${event.estimate}`
    case 'RoomPhaseChanged':
      return `the room is ${event.phase}`
    default:
      return null
  }
}

function revealed({ reason, votes, result }: Extract<PokerEvent, { __typename: 'RoundRevealed' }>): string {
  const cards = votes.map(({ user, card }) => `${nameOf(user)} ${card}`).join(', ')
  const { average, consensus, suggested } = result
  const how = reason === 'AUTO' ? 'everybody has voted' : 'somebody revealed it'
  return `revealed, since ${how}: ${cards}. Average ${average}, ${consensus ? 'all agree' : 'no consensus'}, suggested ${suggested}`
}
