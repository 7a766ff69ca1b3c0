import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { comment, put, react, seen, standup } from './standup-circle.ts'
import { changes } from './traces.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

/** The host has answered, and somebody else is there. */
async function answered() {
  const { room, host, people } = await standup(world, { people: 1 })
  await put(host, room, { today: 'Work' })
  return { room, host, other: people[0] as Actor }
}
const takeBack = (person: Actor, id: string) =>
  person.mutate('standupEntryCommentDelete', { id }, 'commentId entry { comments { text } }')
const node = (person: Actor, id: string) =>
  person.run('query ($id: ID!) { node(id: $id) { ... on StandupEntryComment { text author { id } } } }', { id })

describe('ROOM-98 comments', () => {
  it('ROOM-98 members comment on an answered entry, in any phase, and everybody in the room reads it', async () => {
    const { room, host, other } = await answered()
    const guest = await world.guest(room)
    const first = await comment(other, room, host, ' Well done ')
    expect(first).toMatchObject({ comment: { text: 'Well done', author: { id: other.id } } })
    await host.mutate('standupStart', { roomId: room.id, order: 'JOINED' })
    await comment(host, room, host, 'Thanks')
    await host.mutate('roomEnd', { roomId: room.id })
    await comment(await world.member({ spectator: true }), room, host, 'Late')
    for (const viewer of [host, guest, await world.viewer()]) {
      expect((await seen(viewer, room)).standup.entries[0].comments.map(({ text }: { text: string }) => text)).toEqual([
        'Well done',
        'Thanks',
        'Late',
      ])
      expect(await node(viewer, first['comment'].id)).toMatchObject({ node: { text: 'Well done' } })
    }
    const elsewhere = await world.guest((await standup(world)).room)
    for (const stranger of [elsewhere, await world.outsider(), await world.member({ space: null, role: 'admin' })]) {
      expect(await node(stranger, first['comment'].id)).toEqual({ node: null })
    }
    const facts = await world.sql(
      `SELECT payload FROM platform.audit_events WHERE room_id = $1 AND event_type = 'standup.entry_commented' ORDER BY id`,
      [room.uuid],
    )
    expect(facts).toHaveLength(3)
    expect(facts[0]).toEqual({
      payload: { entryUserId: host.userId, commentId: uuidOf(first['comment'].id), change: 'added' },
    })
  })

  it('ROOM-22, ROOM-155 guests and viewers comment on nothing', async () => {
    const { room, host } = await answered()
    for (const reader of [await world.guest(room), await world.viewer()]) {
      expect(await comment(reader, room, host)).toMatchObject({ code: 'FORBIDDEN' })
    }
    for (const member of [await world.anonymous(), await world.agent(), await world.embedded()]) {
      expect(await comment(member, room, host)).toMatchObject({ __typename: 'StandupEntryCommentPayload' })
    }
    expect(await comment(await world.outsider(), room, host)).toMatchObject({ code: 'NOT_FOUND' })
  })

  it('ROOM-98 a blank entry takes no comment and no reaction, nor does one that is not there', async () => {
    const { room, host, other } = await answered()
    await other.mutate('standupReadySet', { roomId: room.id, ready: true })
    const { room: poker } = await world.pokerRoom({ host })
    for (const act of [comment, react]) {
      expect(await act(host, room, other)).toMatchObject({
        code: 'INVALID_INPUT',
        issues: [{ path: ['input', 'entryUserId'] }],
      })
      expect(await act(host, room, await world.member())).toMatchObject({
        code: 'NOT_FOUND',
        path: ['input', 'entryUserId'],
      })
      expect(await act(host, poker, host)).toMatchObject({ code: 'WRONG_PHASE' })
    }
  })

  it('ROOM-98 one takes back one’s own, also when it is done, and nobody else’s', async () => {
    const { room, host, other } = await answered()
    const { id } = (await comment(other, room, host))['comment']
    await comment(host, room, host, 'Mine')
    for (const stranger of [host, world.owner, await world.guest(room)]) {
      expect(await takeBack(stranger, id)).toMatchObject({ code: 'FORBIDDEN' })
    }
    for (const outsider of [await world.outsider(), await world.otherOrg()]) {
      expect(await takeBack(outsider, id)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'id'] })
    }
    await host.mutate('roomEnd', { roomId: room.id })
    expect(await takeBack(other, id)).toMatchObject({ commentId: id, entry: { comments: [{ text: 'Mine' }] } })
    expect(await takeBack(other, id)).toMatchObject({ code: 'NOT_FOUND' })
    expect((await world.events(room)).at(-1)).toMatchObject({
      type: 'EntryCommentRemoved',
      payload: { entryUserId: host.userId, commentId: uuidOf(id) },
    })
  })

  it('ROOM-98 an entry takes 50 comments, also when the last place is asked for twice', async () => {
    const { room, host, other } = await answered()
    await world.sql(
      `INSERT INTO rooms.standup_entry_comments (org_id, room_id, entry_user_id, author_id, text)
       SELECT $1, $2, $3, $3, 'x' FROM generate_series(1, 49)`,
      [room.orgId, room.uuid, host.userId],
    )
    const both = await Promise.all([comment(host, room, host), comment(other, room, host)])
    expect(both.map(({ code }) => code ?? 'ok').toSorted()).toEqual(['LIMIT_REACHED', 'ok'])
    expect(both.find(({ code }) => code)).toMatchObject({ limit: 50 })
  })

  it('ROOM-7, ROOM-98 a comment has 1 to 500 characters', async () => {
    const { room, host } = await answered()
    expect(await comment(host, room, host, 'é'.repeat(500))).toMatchObject({ comment: {} })
    for (const text of ['x'.repeat(501), ' \n ']) {
      expect(await comment(host, room, host, text)).toMatchObject({ issues: [{ path: ['input', 'text'] }] })
    }
  })
})

describe('ROOM-98 reactions', () => {
  it('ROOM-98, ROOM-155 everybody in the room reacts, once an emoji; the same one again takes it back', async () => {
    const { room, host, other } = await answered()
    const guest = await world.guest(room)
    await react(other, room, host, '🎉')
    expect(await react(guest, room, host, '🎉')).toMatchObject({
      entry: { reactions: [{ emoji: '🎉', count: 2, mine: true }] },
    })
    await react(other, room, host, '👀')
    await host.mutate('roomEnd', { roomId: room.id })
    const reactionsFor = async (viewer: Actor) => (await seen(viewer, room)).standup.entries[0].reactions
    const both = (mine: boolean[]) => [
      { emoji: '🎉', count: 2, mine: mine[0] },
      { emoji: '👀', count: 1, mine: mine[1] },
    ]
    expect(await reactionsFor(other)).toEqual(both([true, true]))
    expect(await reactionsFor(guest)).toEqual(both([true, false]))
    expect(await reactionsFor(host)).toEqual(both([false, false]))
    await react(other, room, host, '🎉')
    expect(await reactionsFor(other)).toEqual([
      { emoji: '🎉', count: 1, mine: false },
      { emoji: '👀', count: 1, mine: true },
    ])
    expect(await world.facts({ room })).toContain('standup.entry_reacted')
  })

  it('ROOM-98 parallel clicks of one person leave one row or none', async () => {
    const { room, host } = await answered()
    await Promise.all([react(host, room, host), react(host, room, host), react(host, room, host)])
    expect((await seen(host, room)).standup.entries[0].reactions).toEqual([{ emoji: '👍', count: 1, mine: true }])
  })

  it('ROOM-98 takes its six emoji, hearts with and without their colour, and nothing else', async () => {
    const { room, host } = await answered()
    for (const emoji of ['👍', '❤️', '🎉', '👀', '🙏', '💡']) {
      expect(await react(host, room, host, emoji)).toMatchObject({ __typename: 'StandupEntryReactPayload' })
    }
    expect((await seen(host, room)).standup.entries[0].reactions).toHaveLength(6)
    await react(host, room, host, '❤')
    expect((await seen(host, room)).standup.entries[0].reactions).toHaveLength(5)
    const changed = await changes(world, room, async () => {
      for (const emoji of ['👎', '👍👍', 'x']) {
        expect(await react(host, room, host, emoji)).toMatchObject({ issues: [{ path: ['input', 'emoji'] }] })
      }
    })
    expect(changed).toBe(false)
  })

  it('ROOM-22, ROOM-6 org viewers react to nothing, and others find nothing', async () => {
    const { room, host } = await answered()
    expect(await react(await world.viewer(), room, host)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await react(await world.member({ spectator: true }), room, host)).toMatchObject({ entry: {} })
    const elsewhere = await world.guest((await standup(world)).room)
    for (const stranger of [elsewhere, await world.outsider(), await world.otherOrg()]) {
      expect(await react(stranger, room, host)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'roomId'] })
    }
  })
})
