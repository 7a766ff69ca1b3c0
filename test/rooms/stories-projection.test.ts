import { afterAll, beforeAll, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { type ProjectionForm, type RecordedEvent, rowsReader } from '../../src/platform/audit/projection.ts'
import { eventType } from '../../src/platform/audit/registry.ts'
import type { TestRoom } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, uuidOf, type World } from '../support/world.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

/** What a webhook would get of the room's events of a type, as the rows are now. */
async function projected(room: TestRoom, type: string, form: ProjectionForm): Promise<object[]> {
  const events = await world.sql<RecordedEvent>(
    `SELECT org_id AS "orgId", space_id AS "spaceId", room_id AS "roomId", payload FROM platform.audit_events
     WHERE room_id = $1 AND event_type = $2`,
    [room.uuid, type],
  )
  const { projection } = eventType(type)!
  const rows = rowsReader(room.orgId)
  return operation('read', { orgId: room.orgId }, () =>
    Promise.all(events.map((event) => projection(event, form, rows))),
  )
}

it('ROOM-183 what people called a story goes to the endpoints of its space alone; a story gone by then is null', async () => {
  const { room, host } = await world.pokerRoom({ stories: 0 })
  const { story } = await host.mutate('storyAdd', { roomId: room.id, title: 'Plan', ref: 'SP-1' }, 'story { id }')
  await host.mutate('storyUpdate', { id: story.id, title: 'Secret plan' })
  await host.mutate('storyEstimate', { id: story.id, estimate: '5' })
  await host.mutate('roomSelect', { roomId: room.id, storyId: story.id })
  await host.mutate('voteCast', { roomId: room.id, storyId: story.id, roundVersion: '1', card: '5' })
  await host.mutate('roomReveal', { roomId: room.id, roundVersion: '1' })
  await host.mutate('roomReset', { roomId: room.id })

  const { slug } = world.home
  const types = ['story.added', 'story.updated', 'story.estimated', 'round.opened', 'round.revealed', 'round.reset']
  for (const type of types) {
    const [toSpace] = await projected(room, type, 'space')
    expect(toSpace).toMatchObject({
      storyId: uuidOf(story.id),
      space: { id: room.spaceId, slug },
      story: { id: story.id, title: 'Secret plan', ref: 'SP-1' },
    })
    const [toOrg] = await projected(room, type, 'org')
    expect(toOrg).toMatchObject({ space: { slug }, story: { id: story.id } })
    expect(JSON.stringify(toOrg)).not.toMatch(/Secret plan|SP-1/)
  }
  const [vote] = await projected(room, 'vote.cast', 'space')
  expect(vote).toMatchObject({ userId: host.userId, space: { slug } })
  expect(JSON.stringify(vote)).not.toMatch(/Secret plan|SP-1|"card"/)

  await host.mutate('storyDelete', { id: story.id })
  expect(await projected(room, 'story.deleted', 'space')).toMatchObject([{ storyId: uuidOf(story.id), story: null }])
  expect(await projected(room, 'story.added', 'space')).toMatchObject([{ story: null }])
})

it('ROOM-183 an import shows its figures everywhere, and the room’s title to the endpoints of its space alone', async () => {
  const { room, host } = await world.pokerRoom({ stories: 0 })
  await host.mutate('roomRename', { roomId: room.id, title: 'Secret plans' })
  const csv = 'title,ref\nSecret plan,SP-1\nAnother,SP-1'
  await host.mutate('storyImport', { roomId: room.id, csv })
  const [toSpace] = await projected(room, 'story.imported', 'space')
  const figures = { added: 1, skipped: 1, space: { id: room.spaceId, slug: world.home.slug } }
  expect(toSpace).toMatchObject({ ...figures, room: { id: room.id, kind: 'poker', title: 'Secret plans' } })
  const [toOrg] = await projected(room, 'story.imported', 'org')
  expect(toOrg).toMatchObject({ ...figures, room: { id: room.id, kind: 'poker' } })
  expect(JSON.stringify([toSpace, toOrg])).not.toMatch(/Secret plan"|Another|SP-1/)
  expect(JSON.stringify(toOrg)).not.toMatch(/Secret plans/)
})

it('ROOM-183 a change of lead says who, and the room’s title to the endpoints of its space alone', async () => {
  const { room, host, voters } = await world.pokerRoom({ voters: 1 })
  await host.mutate('roomFacilitatorHandOver', { roomId: room.id, userId: voters[0]!.id })
  const [toSpace] = await projected(room, 'room.facilitator_changed', 'space')
  const who = { facilitatorId: voters[0]!.userId, previousId: host.userId, reason: 'HANDOVER' }
  expect(toSpace).toMatchObject({ ...who, room: { id: room.id, title: 'Planning' } })
  const [toOrg] = await projected(room, 'room.facilitator_changed', 'org')
  expect(toOrg).toEqual({ ...who, space: expect.anything(), room: { id: room.id, kind: 'poker' } })
})
