import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Actor, Asker } from '../support/actor.ts'
import { type EventStream, openEventStream } from '../support/event-stream.ts'
import { ROOM_EVENTS } from '../support/room-stream.ts'
import type { World } from '../support/world.ts'
import { factsAbout, startIdentityApp } from './identity-app.ts'

let world: World
let admin: Actor
const streams: EventStream[] = []
beforeAll(async () => {
  world = await startIdentityApp()
  admin = await world.member({ role: 'admin' })
})
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close()
  await world.sql(
    `UPDATE identity.orgs SET status = 'active', archived_at = NULL, stopped_at = NULL, stopped_by = NULL, stop_reason = NULL
     WHERE id = $1`,
    [world.org.id],
  )
})
afterAll(() => world?.close())

const ORG = 'org { status stoppedAt stoppedBy { id } stopReason archivedAt }'
const ask = (name: string, input: object = {}, by: Pick<Asker, 'mutate'> = world.owner) => by.mutate(name, input, ORG)
async function factsOf(work: () => Promise<unknown>): Promise<string[]> {
  const before = (await factsAbout(world, world.org.id)).length
  await work()
  return (await factsAbout(world, world.org.id)).slice(before).map(({ type }) => type)
}
async function follow(who: Asker, query: string, variables: object = {}): Promise<EventStream> {
  const stream = await openEventStream(who.client.url, who.client.token!, query, variables)
  streams.push(stream)
  return stream
}

describe('stopping an org', () => {
  it('ID-58 is told with who and why, once, and taken back by a person', async () => {
    const facts = await factsOf(async () => {
      expect(await ask('orgStop', { reason: 'strange invoices' })).toMatchObject({
        org: { stoppedAt: expect.any(String), stoppedBy: { id: world.owner.id }, stopReason: 'strange invoices' },
      })
      expect(await ask('orgStop', { reason: 'again' }, admin)).toMatchObject({
        org: { stoppedBy: { id: world.owner.id }, stopReason: 'strange invoices' },
      })
      const started = { org: { stoppedAt: null, stoppedBy: null, stopReason: null } }
      expect(await ask('orgResume', {}, admin)).toMatchObject(started)
      expect(await ask('orgResume')).toMatchObject(started)
    })
    expect(facts).toEqual(['org.stopped', 'org.resumed'])
    const rows = await world.sql(
      `SELECT category, durable, deliverable, reason FROM platform.audit_events
       WHERE target_id = $1 AND event_type = 'org.stopped' ORDER BY created_at DESC LIMIT 1`,
      [world.org.id],
    )
    expect(rows).toEqual([{ category: 'activity', durable: true, deliverable: true, reason: 'strange invoices' }])
  })

  it('ID-58 of two admins who stop, or resume, at once one does: one event each, 10 times', async () => {
    for (let round = 0; round < 10; round++) {
      const stopped = () => Promise.all([ask('orgStop'), ask('orgStop', {}, admin)])
      expect(await factsOf(stopped)).toEqual(['org.stopped'])
      const resumed = () => Promise.all([ask('orgResume'), ask('orgResume', {}, admin)])
      expect(await factsOf(resumed)).toEqual(['org.resumed'])
    }
  })

  it('ID-6, 7 is an admin key’s too, resuming is not', async () => {
    const key = await world.adminKey()
    expect(await ask('orgStop', { reason: 'alarm' }, key)).toMatchObject({
      org: { stoppedBy: null, stopReason: 'alarm' },
    })
    expect(await ask('orgResume', {}, key)).toMatchObject({ code: 'FORBIDDEN' })
    expect(await ask('orgResume', {}, await world.embedded())).toMatchObject({ code: 'FORBIDDEN' })
    expect(await ask('orgResume')).toMatchObject({ org: { stoppedAt: null } })
    expect((await factsAbout(world, world.org.id)).at(-2)).toMatchObject({ type: 'org.stopped', actorKind: 'api_key' })
  })

  it('ID-58, PLAT-33 refuses the agents’ next call and ends their streams while people go on', async () => {
    const { room, host } = await world.pokerRoom()
    const [agent, key] = [await world.agent(), await world.adminKey()]
    const [theirs, ours] = [
      await follow(agent, ROOM_EVENTS, { roomId: room.id }),
      await follow(host, ROOM_EVENTS, { roomId: room.id }),
    ]
    const snapshot = ({ data }: { data?: { roomEvents?: { __typename: string } } | null }) =>
      data?.roomEvents?.__typename === 'RoomSnapshot'
    await Promise.all([theirs.next(snapshot), ours.next(snapshot)])

    await ask('orgStop')
    const call = async (who: Asker) => (await who.send('{ viewer { standing } }')).errors?.[0]?.extensions.code ?? 'ok'
    expect(await call(agent)).toBe('ORG_STOPPED')
    expect([await call(host), await call(key)]).toEqual(['ok', 'ok'])
    await expect.poll(() => theirs.ended, { timeout: 5_000 }).toBe(true)

    const delivered = theirs.answers.length
    expect(await host.mutate('roomRename', { roomId: room.id, title: 'On' })).toMatchObject({
      __typename: 'RoomRenamePayload',
    })
    await ours.next(({ data }) => Number(data?.roomEvents?.version) > 1 && !snapshot({ data }))
    expect(ours.ended).toBe(false)
    expect(theirs.answers.slice(delivered).filter(({ data }) => data?.roomEvents)).toEqual([])

    await ask('orgResume')
    expect(await call(agent)).toBe('ok')
  })
})

describe('archiving an org', () => {
  it('ID-59 is done once and undone once, also by two at once', async () => {
    const both = (name: string) => () => Promise.all([ask(name), ask(name, {}, admin)])
    expect(await factsOf(both('orgArchive'))).toEqual(['org.archived'])
    expect(await ask('orgArchive')).toMatchObject({ org: { status: 'ARCHIVED', archivedAt: expect.any(String) } })
    expect(await factsOf(both('orgUnarchive'))).toEqual(['org.unarchived'])
    expect(await ask('orgUnarchive')).toMatchObject({ org: { status: 'ACTIVE', archivedAt: null } })
  })

  it('ID-59 refuses agents, and leaves them be afterwards', async () => {
    const agent = await world.agent()
    const call = async () => (await agent.send('{ viewer { standing } }')).errors?.[0]?.extensions.code ?? 'ok'
    await ask('orgArchive')
    expect(await call()).toBe('ORG_ARCHIVED')
    await ask('orgUnarchive')
    expect(await call()).toBe('ok')
  })
})

describe('orgState', () => {
  const STATE = 'subscription { orgState { status stoppedAt stopReason archivedAt } }'

  it('ID-58, PLAT-5 sends the org each time that it is stopped, resumed, archived, unarchived, and at nothing else', async () => {
    const stream = await follow(await world.viewer(), STATE)
    const changes = ['orgStop', 'orgResume', 'orgArchive', 'orgUnarchive']
    for (let at = 0; at < 10; at++) {
      if (at % 3 === 0) await world.owner.mutate('orgUpdate', { settings: { at } })
      await ask(changes[at % 4]!, changes[at % 4] === 'orgStop' ? { reason: `r${at}` } : {})
      await expect.poll(() => stream.answers.length, { timeout: 8_000 }).toBe(at + 1)
      const { orgState, errors } = { ...stream.answers[at]!.data, errors: stream.answers[at]!.errors }
      expect(errors).toBeUndefined()
      expect(orgState).toEqual({
        status: changes[at % 4] === 'orgArchive' ? 'ARCHIVED' : 'ACTIVE',
        stoppedAt: changes[at % 4] === 'orgStop' ? expect.any(String) : null,
        stopReason: changes[at % 4] === 'orgStop' ? `r${at}` : null,
        archivedAt: changes[at % 4] === 'orgArchive' ? expect.any(String) : null,
      })
    }
  })

  it('ID-4, 58 is not for guests and participants, and tells nothing of another org', async () => {
    const { room } = await world.pokerRoom()
    for (const who of [await world.guest(room), await world.anonymous(), await world.embedded()]) {
      const stream = await follow(who, STATE)
      const { errors } = await stream.next(() => true)
      expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }])
    }
    const other = await world.otherOrg()
    const [theirs, ours] = [await follow(other, STATE), await follow(world.owner, STATE)]
    await ask('orgStop')
    await ours.next(({ data }) => data?.orgState?.stoppedAt)
    expect(theirs.answers).toEqual([])
  })
})

describe('orgUpdate', () => {
  const update = (input: object, by: Pick<Asker, 'mutate'> = world.owner) =>
    by.mutate('orgUpdate', input, 'org { name slug timeZone retentionDays allowAnonymous settings }')

  it('ID-6, 59 changes what is given and records the names of what changed, in an archived org too', async () => {
    const next = { name: 'New', timeZone: 'Asia/Tokyo', retentionDays: 30, allowAnonymous: false, settings: { a: [1] } }
    expect(await update(next, admin)).toMatchObject({ org: { ...next, slug: world.org.slug } })
    await ask('orgArchive')
    expect(await factsOf(() => update({ ...next, name: 'Newer' }, admin))).toEqual(['org.updated'])
    expect((await factsAbout(world, world.org.id)).at(-1)).toMatchObject({ payload: { fields: ['name'] } })
    expect(await factsOf(() => update({ settings: { a: [1] } }))).toEqual([])
    await ask('orgUnarchive')
    await update({ allowAnonymous: true })
  })

  it('ID-57 takes no slug of another org', async () => {
    const other = await world.otherOrg()
    const [{ slug }] = (await world.sql('SELECT slug FROM identity.orgs WHERE id = $1', [other.orgId])) as [
      { slug: string },
    ]
    expect(await update({ slug, name: 'Theirs' })).toMatchObject({ code: 'CONFLICT', message: 'The slug is taken.' })
    expect((await world.owner.run('{ org { slug } }')).org).toEqual({ slug: world.org.slug })
  })

  it.each([
    ['slug', 'A'],
    ['slug', 'ab'],
    ['slug', 'purged-'],
    ['name', ' '],
    ['name', 'a\u202eb'],
    ['timeZone', 'Europe/Nowhere'],
    ['timeZone', '+01:00'],
    ['timeZone', ''],
    ['retentionDays', 6],
    ['retentionDays', 3_651],
    ['settings', []],
    ['settings', null],
    ['settings', 'x'],
    ['settings', { a: 'x'.repeat(32_768) }],
    ['settings', { a: ['\u0000'] }],
  ])('ID-6, PLAT-59 takes no %s like %j', async (field, value) => {
    expect(await update({ [field]: value })).toMatchObject({ code: 'INVALID_INPUT' })
  })

  it('ID-4 guests and participants see what the org is called and whether it takes writes, no more', async () => {
    await ask('orgStop', { reason: 'private' })
    const { room } = await world.pokerRoom()
    const document = `{ org { name status timeZone archivedAt
      apiVersion retentionDays allowAnonymous settings stoppedAt stopReason stoppedBy { id } } }`
    for (const who of [await world.guest(room), await world.anonymous(), await world.embedded()]) {
      const { org } = await who.run(document)
      expect(org).toEqual({
        name: expect.any(String),
        status: 'ACTIVE',
        timeZone: expect.any(String),
        archivedAt: null,
        apiVersion: null,
        retentionDays: null,
        allowAnonymous: null,
        settings: null,
        stoppedAt: null,
        stopReason: null,
        stoppedBy: null,
      })
    }
    for (const who of [await world.viewer(), await world.adminKey()]) {
      expect((await who.run(document)).org).toMatchObject({
        apiVersion: '2026-01-01',
        allowAnonymous: true,
        stopReason: 'private',
        stoppedBy: { id: world.owner.id },
      })
    }
  })
})
