import { v4, v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import type { Actor, TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'
import { changes } from './traces.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

type Play = { room: TestRoom; stories: string[] }

/** Every mutation of stories and rounds with input that fits, which changes a room with two stories and no votes. */
const MUTATIONS = {
  storyAdd: ({ room }: Play) => ({ roomId: room.id, title: 'New' }),
  storyImport: ({ room }: Play) => ({ roomId: room.id, csv: 'title\nNew' }),
  storyUpdate: ({ stories }: Play) => ({ id: stories[0], title: 'New' }),
  storyMove: ({ stories }: Play) => ({ id: stories[0], afterId: stories[1] }),
  storyDelete: ({ stories }: Play) => ({ id: stories[1] }),
  storyEstimate: ({ stories }: Play) => ({ id: stories[0], estimate: '5' }),
  roomSelect: ({ room, stories }: Play) => ({ roomId: room.id, storyId: stories[1] }),
  roomQuickVote: ({ room }: Play) => ({ roomId: room.id }),
  roomConfigSet: ({ room }: Play) => ({ roomId: room.id, change: { openVoting: true } }),
  roomReset: ({ room }: Play) => ({ roomId: room.id }),
  roomReveal: ({ room }: Play) => ({ roomId: room.id, roundVersion: room.round.roundVersion }),
  voteCast: ({ room }: Play) => ({ roomId: room.id, ...room.round, card: '5' }),
  voteClear: ({ room }: Play) => ({ roomId: room.id, ...room.round }),
} satisfies Record<string, (play: Play) => object>
type Name = keyof typeof MUTATIONS
const NAMES = Object.keys(MUTATIONS) as Name[]

const VOTES: readonly Name[] = ['voteCast', 'voteClear']
const OPEN_TO_MEMBERS: readonly Name[] = ['storyAdd', ...VOTES]

/** The code that each mutation answers with, or `ok`; that a refusal left nothing behind is checked on the way. */
async function answers(play: Play, caller: Actor): Promise<Record<string, string>> {
  const codes: Record<string, string> = {}
  for (const name of NAMES) {
    const changed = await changes(world, play.room, async () => {
      const { data, errors } = await caller.attempt(name, MUTATIONS[name](play))
      codes[name] = errors ? `top-level ${errors[0]!.extensions.code}` : (data[name].code ?? 'ok')
    })
    expect(changed && codes[name] !== 'ok').toBe(false)
  }
  return codes
}

const allOf = (code: string, but: Partial<Record<Name, string>> = {}): Record<string, string> => ({
  ...Object.fromEntries(NAMES.map((name) => [name, code])),
  ...but,
})
const only = (names: readonly Name[]) => allOf('FORBIDDEN', Object.fromEntries(names.map((name) => [name, 'ok'])))

describe('who may', () => {
  const callers: [string, (play: Play & { host: Actor }) => Promise<Actor>, Record<string, string>][] = [
    ['the facilitator', async ({ host }) => host, allOf('ok')],
    ['a co-facilitator', ({ room }) => cohost(room), allOf('ok')],
    ['a member', () => world.member(), only(OPEN_TO_MEMBERS)],
    ['an anonymous member', () => world.anonymous(), only(OPEN_TO_MEMBERS)],
    ['an owner of the space', async () => world.owner, only(OPEN_TO_MEMBERS)],
    ['an admin who is a member', () => world.member({ role: 'admin' }), only(OPEN_TO_MEMBERS)],
    ['the facilitator in a meeting client', ({ host }) => world.embedded(host), only(OPEN_TO_MEMBERS)],
    ['a spectator', () => world.member({ spectator: true }), only(['storyAdd'])],
    ['a guest', ({ room }) => world.guest(room), only(VOTES)],
    ['an org viewer', () => world.viewer(), allOf('FORBIDDEN')],
    ['an org viewer in a meeting client', async () => world.embedded(await world.viewer()), allOf('FORBIDDEN')],
    [
      'an org viewer who was a co-facilitator',
      async ({ room }) => cohost(room, await world.viewer()),
      allOf('FORBIDDEN'),
    ],
    ['a member of another space', () => world.outsider(), allOf('NOT_FOUND')],
    ['an admin of the org', () => world.member({ space: null, role: 'admin' }), allOf('NOT_FOUND')],
    ['somebody of another org', () => world.otherOrg(), allOf('NOT_FOUND')],
    ['a guest of another room', async () => world.guest((await world.pokerRoom()).room), allOf('NOT_FOUND')],
    ['a member who left', () => formerMember(), allOf('NOT_FOUND')],
  ]

  it.each(callers)('ROOM-6, ROOM-22, ROOM-40, ROOM-58, ROOM-69, ROOM-155 %s', async (_name, callerOf, expected) => {
    const { host, ...play } = await world.pokerRoom({ stories: 2 })
    const caller = await callerOf({ ...play, host })
    if (expected['storyDelete'] !== 'ok') return expect(await answers(play, caller)).toEqual(expected)
    // What hosts do takes away what the next would need, so each gets a room of its own.
    for (const name of NAMES) {
      const own = await world.pokerRoom({ stories: 2, host })
      if (caller !== host) await makeCohost(own.room, caller)
      expect(await changes(world, own.room, () => caller.mutate(name, MUTATIONS[name](own)))).toBe(name !== 'voteClear')
    }
  })

  it('PLAT-62 nobody signed in', async () => {
    const play = await world.pokerRoom({ stories: 2 })
    const nobody = Object.assign(Object.create(play.host), { client: world.app.client() }) as Actor
    expect(await answers(play, nobody)).toEqual(allOf('top-level UNAUTHENTICATED'))
  })

  async function cohost(room: TestRoom, person?: Actor): Promise<Actor> {
    const caller = person ?? (await world.member())
    await makeCohost(room, caller)
    return caller
  }

  async function makeCohost(room: TestRoom, person: Actor): Promise<void> {
    await world.attend(room, person)
    await world.sql('UPDATE rooms.room_participants SET cofacilitator = true WHERE room_id = $1 AND user_id = $2', [
      room.uuid,
      person.userId,
    ])
  }

  async function formerMember(): Promise<Actor> {
    const person = await world.member()
    await world.sql('DELETE FROM rooms.space_members WHERE user_id = $1', [person.userId])
    return person
  }
})

it('ROOM-5 a done room answers that it has ended', async () => {
  const { host, ...play } = await world.pokerRoom({ stories: 2 })
  await world.sql(`UPDATE rooms.rooms SET phase = 'done', ended_at = now() WHERE id = $1`, [play.room.uuid])
  expect(await answers(play, host)).toEqual(allOf('ROOM_ENDED'))
})

it('ROOM-5 a room of another kind has no such action', async () => {
  const { host, ...play } = await world.pokerRoom({ stories: 2 })
  await world.sql(
    `INSERT INTO rooms.room_kinds (org_id, kind, provider, display, actions)
     VALUES ($1, 'retro', 'acme', 'Retro', '{"phases": ["talk", "done"], "initial": "talk"}')`,
    [play.room.orgId],
  )
  const uuid = v7()
  await world.sql(
    `INSERT INTO rooms.rooms (org_id, id, space_id, kind, title, phase, facilitator_id)
     VALUES ($1, $2, $3, 'retro', 'Retro', 'talk', $4)`,
    [play.room.orgId, uuid, uuidOf(play.room.spaceId), host.userId],
  )
  const retro = { ...play.room, id: encodeId('Room', uuid), uuid }
  await world.sql('UPDATE rooms.rooms SET current_story_id = NULL WHERE id = $1', [play.room.uuid])
  await world.sql('UPDATE rooms.stories SET room_id = $1 WHERE room_id = $2', [uuid, play.room.uuid])
  expect(await answers({ ...play, room: retro }, host)).toEqual(allOf('WRONG_PHASE'))
})

describe('forged ids', () => {
  const ROOM_ARGUMENTS = [
    'storyAdd',
    'storyImport',
    'roomSelect',
    'roomQuickVote',
    'roomConfigSet',
    'roomReset',
    'roomReveal',
    'voteCast',
    'voteClear',
  ] as const
  const STORY_ARGUMENTS = [
    ['storyUpdate', 'id'],
    ['storyMove', 'id'],
    ['storyMove', 'afterId'],
    ['storyDelete', 'id'],
    ['storyEstimate', 'id'],
    ['roomSelect', 'storyId'],
    ['voteCast', 'storyId'],
    ['voteClear', 'storyId'],
  ] as const

  it('ROOM-6 a room or story of elsewhere is not there, whatever else is right', async () => {
    const play = await world.pokerRoom({ stories: 2 })
    const { host } = play
    const otherRoom = await world.pokerRoom({ stories: 1 })
    const outsider = await world.outsider()
    const stranger = await world.otherOrg()
    const otherSpace = await world.pokerRoom({ space: outsider.space, host: outsider })
    const otherOrg = await world.pokerRoom({ space: stranger.space, host: stranger })

    expect(
      await changes(world, play.room, async () => {
        for (const roomId of [otherSpace.room.id, otherOrg.room.id, encodeId('Room', v7())]) {
          for (const name of ROOM_ARGUMENTS) {
            expect(await host.mutate(name, { ...MUTATIONS[name](play), roomId })).toMatchObject({
              code: 'NOT_FOUND',
              path: ['input', 'roomId'],
            })
          }
        }
        const stories = [otherSpace.stories[0]!, otherOrg.stories[0]!, encodeId('Story', v7())]
        for (const [name, argument] of STORY_ARGUMENTS) {
          // Of another room that the caller does see, a story has no place in this one.
          const here = argument === 'id' ? [] : [otherRoom.stories[0]!]
          for (const story of [...stories, ...here]) {
            expect(await host.mutate(name, { ...MUTATIONS[name](play), [argument]: story })).toMatchObject({
              code: 'NOT_FOUND',
              path: ['input', argument],
            })
          }
        }
      }),
    ).toBe(false)
    // A host here is none there.
    expect(await host.mutate('storyUpdate', { id: otherRoom.stories[0], title: 'X' })).toMatchObject({
      code: 'FORBIDDEN',
    })
  })

  it('PLAT-58 what is no id of that type is refused at its argument', async () => {
    const play = await world.pokerRoom({ stories: 2 })
    const arguments_ = [...ROOM_ARGUMENTS.map((name) => [name, 'roomId'] as const), ...STORY_ARGUMENTS]
    const forged = (id: string) => [
      '',
      uuidOf(id),
      id.toUpperCase(),
      `${id}x`,
      encodeId('User', v7()),
      `rom_${v4()}`,
      'sty_',
    ]
    expect(
      await changes(world, play.room, async () => {
        for (const [name, argument] of arguments_) {
          for (const id of forged(play.stories[0]!)) {
            expect(await play.host.mutate(name, { ...MUTATIONS[name](play), [argument]: id })).toMatchObject({
              code: 'INVALID_INPUT',
              issues: [{ path: ['input', argument] }],
            })
          }
        }
      }),
    ).toBe(false)
  })
})
