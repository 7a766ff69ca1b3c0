import { afterAll, beforeAll, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { revealByTimer } from '../../src/rooms/poker/reveal-by-timer.ts'
import type { TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'
import { lastEvents, open, reset, TABLE } from './poker-table.ts'
import { changes } from './traces.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

async function arm(room: TestRoom, onEnd: 'reveal' | 'none' = 'reveal') {
  const [timer] = await world.sql<{ endsAt: string; roundVersion: string }>(
    `UPDATE rooms.rooms SET timer_started_at = now() - interval '2 minutes', timer_ends_at = now() - interval '1 minute',
       timer_on_end = $2 WHERE id = $1
     RETURNING (timer_ends_at AT TIME ZONE 'UTC')::text || '+00' AS "endsAt", poker_round_version::text AS "roundVersion"`,
    [room.uuid, onEnd],
  )
  return { endsAt: timer!.endsAt, roundVersion: BigInt(timer!.roundVersion) }
}
const fire = (room: TestRoom, armed: Awaited<ReturnType<typeof arm>>) =>
  operation('write', { orgId: room.orgId }, () => revealByTimer(room.orgId, room.uuid, armed))

it('ROOM-81 reveals a round that has a vote, as the system, and clears the timer', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 2 })
  await voters[0]!.vote(room, '5')
  await fire(room, await arm(room))

  expect(await host.room(room, TABLE)).toMatchObject({
    timer: null,
    poker: { revealed: true, currentStory: { votes: [{ card: '5' }] } },
  })
  expect(await lastEvents(world, room, 2)).toMatchObject([
    { type: 'RoundRevealed', payload: { reason: 'TIMER' } },
    { type: 'TimerChanged', payload: { startedAt: null, endsAt: null } },
  ])
  const [fact] = await world.sql(
    `SELECT actor_kind, payload->>'reason' AS reason FROM platform.audit_events
     WHERE room_id = $1 AND event_type = 'round.revealed'`,
    [room.uuid],
  )
  expect(fact).toEqual({ actor_kind: 'system', reason: 'TIMER' })
})

it('ROOM-81 clears the timer of a round without votes, or revealed meanwhile, and reveals nothing', async () => {
  for (const revealed of [false, true]) {
    const { room, host } = await world.pokerRoom()
    if (revealed) await host.reveal(room)
    await fire(room, await arm(room))
    expect(await host.room(room, TABLE)).toMatchObject({ timer: null, poker: { revealed } })
    expect(await lastEvents(world, room, 1)).toMatchObject([{ type: 'TimerChanged' }])
  }
})

it('ROOM-73 a timer that was extended, stopped, fired or armed in another round does nothing', async () => {
  const { room, voters } = await world.pokerRoom({ voters: 1 })
  await voters[0]!.vote(room, '5')
  const armed = await arm(room)
  const untouched = (stale: typeof armed) => changes(world, room, () => fire(room, stale))
  expect(await untouched({ ...armed, roundVersion: armed.roundVersion - 1n })).toBe(false)
  expect(await untouched({ ...armed, endsAt: '2026-01-01 00:00:00+00' })).toBe(false)
  expect(await untouched(await arm(room, 'none'))).toBe(false)

  const again = await arm(room)
  const fired = await Promise.all([fire(room, again), fire(room, again), fire(room, again)])
  expect(fired.filter((change) => change !== null)).toHaveLength(1)
  expect((await world.events(room)).filter(({ type }) => type === 'RoundRevealed')).toHaveLength(1)
})

it('ROOM-81 select and reset stop a running timer, so the new round stays hidden', async () => {
  const { room, host, voters, stories } = await world.pokerRoom({ stories: 2, voters: 1 })
  const acts = [
    ['RoundOpened', () => open(host, room, stories[1]!)],
    ['RoundReset', () => reset(host, room)],
  ] as const
  for (const [event, act] of acts) {
    const armed = await arm(room)
    expect(await act()).toMatchObject({ room: { timer: null } })
    expect((await lastEvents(world, room, 2)).map(({ type }) => type)).toEqual(['TimerChanged', event])
    await voters[0]!.vote(room, '5')
    expect(await changes(world, room, () => fire(room, armed))).toBe(false)
  }
})
