import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Actor } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world?.close())

const add = (person: Actor, startsOn: string, endsOn = startsOn) =>
  person.mutate(
    'awayAdd',
    { startsOn, endsOn },
    'awayRange { id startsOn endsOn }',
    '... on LimitReachedError { limit }',
  )
const remove = (person: Actor, id: string) => person.mutate('awayDelete', { id }, 'awayRangeId')
const own = async (person: Actor) => (await person.run('{ myAway { id startsOn endsOn } }')).myAway
const rangesOf = async ({ userId }: Actor) =>
  (
    await world.sql<{ count: number }>('SELECT count(*)::int AS count FROM rooms.standup_away WHERE user_id = $1', [
      userId,
    ])
  )[0]!.count

it('ROOM-130 keeps a person’s own days, the earliest first, and takes them back', async () => {
  const person = await world.member()
  const later = await add(person, '2026-08-10', '2026-08-20')
  const sooner = await add(person, '2026-07-01')

  expect(await own(person)).toEqual([
    { id: sooner.awayRange.id, startsOn: '2026-07-01', endsOn: '2026-07-01' },
    { id: later.awayRange.id, startsOn: '2026-08-10', endsOn: '2026-08-20' },
  ])
  expect(await remove(person, later.awayRange.id)).toMatchObject({ awayRangeId: later.awayRange.id })
  expect(await own(person)).toHaveLength(1)
  expect(await remove(person, later.awayRange.id)).toMatchObject({ code: 'NOT_FOUND' })
})

it('ROOM-130 takes ranges under 90 days that do not end before they start', async () => {
  const person = await world.member()
  expect(await add(person, '2026-01-01', '2026-03-31')).toMatchObject({ awayRange: { endsOn: '2026-03-31' } })
  for (const [startsOn, endsOn] of [
    ['2026-01-01', '2026-04-01'],
    ['2026-01-02', '2026-01-01'],
    ['2026-01-01', '2027-01-01'],
  ] as const) {
    expect(await add(person, startsOn, endsOn)).toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: ['input', 'endsOn'] }],
    })
  }
  expect(await own(person)).toHaveLength(1)
})

it('ROOM-4, ROOM-130 the same days again change nothing', async () => {
  const person = await world.member()
  const first = await add(person, '2026-07-01', '2026-07-03')
  expect(await add(person, '2026-07-01', '2026-07-03')).toEqual(first)
  expect(await rangesOf(person)).toBe(1)
})

it('ROOM-130 of many at once fifty ranges are kept, and no more', async () => {
  const person = await world.member()
  await world.sql(
    `INSERT INTO rooms.standup_away (org_id, user_id, starts_on, ends_on)
     SELECT $1, $2, date '2026-01-01' + day, date '2026-01-01' + day FROM generate_series(1, 45) AS day`,
    [person.orgId, person.userId],
  )
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, at) => add(person, `2027-01-${String(at + 10).padStart(2, '0')}`)),
  )
  const refused = answers.filter((answer) => answer.code === 'LIMIT_REACHED')
  expect(refused).toHaveLength(5)
  expect(refused[0]).toMatchObject({ limit: 50 })
  expect(await rangesOf(person)).toBe(50)
})

it('ROOM-22, ROOM-130 participants are away too; org viewers, in a meeting client too, and guests are not', async () => {
  const { room } = await world.pokerRoom()
  const viewer = await world.viewer()
  const refused = [viewer, await world.embedded(viewer), await world.guest(room)]
  const admitted = [await world.anonymous(), await world.embedded(await world.member()), await world.agent()]

  for (const person of refused) {
    expect(await add(person, '2026-07-01')).toMatchObject({ code: 'FORBIDDEN' })
    expect(await rangesOf(person)).toBe(0)
  }
  for (const person of admitted) {
    expect(await add(person, '2026-07-01')).toMatchObject({ awayRange: { startsOn: '2026-07-01' } })
  }
})

it('ROOM-130 nobody else reads or removes them: no teammate, no owner of space and org, no other org', async () => {
  const person = await world.member()
  const { awayRange } = await add(person, '2026-07-01')
  const others = [world.owner, await world.member(), await world.otherOrg(), await world.agent()]

  for (const other of others) {
    expect(await own(other)).toEqual([])
    expect((await other.run(`{ node(id: "${awayRange.id}") { id } }`)).node).toBeNull()
    expect(await remove(other, awayRange.id)).toMatchObject({ code: 'NOT_FOUND' })
  }
  expect((await person.run(`{ node(id: "${awayRange.id}") { id ... on AwayRange { startsOn } } }`)).node).toEqual({
    id: awayRange.id,
    startsOn: '2026-07-01',
  })
  expect(await own(person)).toHaveLength(1)
})

it('ROOM-130 a day is of one org: in another the same person is there', async () => {
  const person = await world.member()
  const stranger = await world.otherOrg()
  await world.sql(
    `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, 'member', 'twice', now())`,
    [stranger.orgId, person.userId],
  )
  await add(person, '2026-07-01')
  const there = await world.signIn({ ...person, orgId: stranger.orgId } as Actor)
  expect(await own(there)).toEqual([])
  const { awayRange } = await add(there, '2026-07-02')
  expect(await own(person)).toHaveLength(1)
  expect(await remove(person, awayRange.id)).toMatchObject({ code: 'NOT_FOUND' })
})

it('ROOM-180 what is on record says whose it is and nothing of the days, and no webhook or activity tells of it', async () => {
  const person = await world.member()
  const { awayRange } = await add(person, '2026-07-01', '2026-07-09')
  await remove(person, awayRange.id)

  const facts = await world.sql(
    `SELECT event_type, category, deliverable, private_user_id, space_id, room_id, target_id, payload
     FROM platform.audit_events WHERE actor_user_id = $1 ORDER BY id`,
    [person.userId],
  )
  const fact = {
    event_type: 'standup.away_saved',
    category: 'audit_only',
    deliverable: false,
    private_user_id: person.userId,
    space_id: null,
    room_id: null,
    target_id: null,
    payload: {},
  }
  expect(facts).toEqual([fact, fact])
})

it('ID-65 days go with whoever is erased, and stay when a membership merely ends', async () => {
  const [erased, left] = [await world.member(), await world.member()]
  for (const person of [erased, left]) await add(person, '2026-07-01')

  const { user } = (await erased.run('{ viewer { user { displayName } } }')).viewer
  await erased.mutate('viewerErase', { confirm: user.displayName }, 'erased')
  await world.owner.mutate('memberRevoke', { userId: left.id }, '__typename')

  expect(await rangesOf(erased)).toBe(0)
  expect(await rangesOf(left)).toBe(1)
})

it('ROOM-130, ID-65 the days of an erased anonymous person go too', async () => {
  const anonymous = await world.anonymous()
  await add(anonymous, '2026-07-01')
  const { user } = (await anonymous.run('{ viewer { user { displayName } } }')).viewer
  await anonymous.mutate('viewerErase', { confirm: user.displayName }, 'erased')
  expect(await rangesOf(anonymous)).toBe(0)
})

it('ID-65 whoever is being erased leaves no days behind, however close they come', async () => {
  for (let round = 0; round < 6; round++) {
    const anonymous = await world.anonymous()
    const { user } = (await anonymous.run('{ viewer { user { displayName } } }')).viewer
    const input = { startsOn: '2026-07-01', endsOn: '2026-07-01' }
    await Promise.all([
      anonymous.attempt('viewerErase', { confirm: user.displayName }, 'erased'),
      ...Array.from({ length: 4 }, () => anonymous.attempt('awayAdd', input)),
    ])
    expect(await rangesOf(anonymous)).toBe(0)
  }
})
