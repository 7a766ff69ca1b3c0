import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { sql } from '../../src/db/sql.ts'
import { carryOutPurge, carryOutPurges, purgeOf } from '../../src/identity/org/carry-out-purges.ts'
import { type App, startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

/** An archived org in which something of every kind happened. */
async function archived(): Promise<World> {
  const world = await createWorld(app)
  const { room, host, voters } = await world.pokerRoom({ voters: 2 })
  await voters[0]!.vote(room, '5')
  await host.mutate('roomRename', { roomId: room.id, title: 'Another' })
  await world.guest(room)
  await world.anonymous()
  await world.agent()
  await world.adminKey()
  await world.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [world.org.id])
  return world
}

const purge = ({ owner, org }: World, confirmSlug = org.slug) => owner.mutate('orgPurge', { confirmSlug }, 'slug')

/** How many rows of the org each tenant table holds, empty ones left out. */
async function rowsLeft(world: World): Promise<Record<string, number>> {
  const tables = await world.sql<{ name: string }>(`
    SELECT a.attrelid::regclass::text AS name FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
    WHERE a.attname = 'org_id' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND c.relnamespace::regnamespace::text IN ('identity', 'rooms', 'work', 'gate', 'plugins', 'platform')`)
  const counts = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await world.sql<{ n: number }>(`SELECT count(*)::int AS n FROM ${name} WHERE org_id = $1`, [
        world.org.id,
      ])
      return [name, row!.n] as const
    }),
  )
  return Object.fromEntries(counts.filter(([, n]) => n > 0))
}

const orgRow = async (world: World) =>
  (await world.sql('SELECT status, name, slug, settings FROM identity.orgs WHERE id = $1', [world.org.id]))[0]

describe('asking for it', () => {
  it('ID-63 takes an archived org, its slug, and its owner in person', async () => {
    const world = await createWorld(app)
    const admin = await world.member({ role: 'admin' })
    const key = await world.adminKey()

    expect(await purge(world)).toMatchObject({ code: 'CONFLICT' })
    await world.sql(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [world.org.id])
    expect(await purge(world, 'another-slug')).toMatchObject({ code: 'INVALID_INPUT' })
    expect(await admin.mutate('orgPurge', { confirmSlug: world.org.slug })).toMatchObject({ code: 'FORBIDDEN' })
    expect((await key.attempt('orgPurge', { confirmSlug: world.org.slug })).errors ?? [{}]).toHaveLength(1)
    expect(await orgRow(world)).toMatchObject({ status: 'archived' })
    expect(await world.owner.run('{ viewer { standing } }')).toEqual({ viewer: { standing: 'OWNER' } })
  })

  it('ID-63 cuts off everybody at once: people, guests, agents, keys', async () => {
    const world = await archived()
    const member = await world.member()
    const key = await world.adminKey()
    const agent = await world.agent()

    expect(await purge(world)).toMatchObject({ __typename: 'OrgPurgePayload', slug: world.org.slug })

    for (const somebody of [world.owner, member, key, agent]) {
      const { errors } = await somebody.client.send('{ viewer { standing } }')
      expect(errors?.[0]?.extensions?.['code']).toBe('UNAUTHENTICATED')
    }
    expect(await orgRow(world)).toMatchObject({ status: 'purging', slug: world.org.slug })
  })

  it('ID-63 begins once when two ask at once', async () => {
    const world = await archived()
    const second = await world.member({ role: 'owner' })
    const outcomes = await Promise.all([
      world.owner.attempt('orgPurge', { confirmSlug: world.org.slug }),
      second.attempt('orgPurge', { confirmSlug: world.org.slug }),
    ])
    const begun = outcomes.filter(({ data }) => JSON.stringify(data ?? null).includes('OrgPurgePayload'))
    expect(begun).toHaveLength(1)
    const facts = await world.sql(
      `SELECT FROM platform.audit_events WHERE org_id = $1 AND event_type = 'org.purge_requested'`,
      [world.org.id],
    )
    expect(facts).toHaveLength(1)
  })
})

describe('carrying it out', () => {
  it('ID-64 leaves the tombstone, durable events, agents and registered people, and nothing else', async () => {
    const world = await archived()
    const neighbour = await archived()
    const before = await rowsLeft(neighbour)
    const [{ durable }] = (await world.sql(
      'SELECT count(*)::int AS durable FROM platform.audit_events WHERE org_id = $1 AND durable',
      [world.org.id],
    )) as [{ durable: number }]
    await purge(world)

    expect(await carryOutPurge(world.org.id)).toBe(true)

    const left = await rowsLeft(world)
    expect(left).toEqual({
      'identity.agents': 1,
      'platform.audit_events': durable + 2, // asked for, and done
    })
    expect(await orgRow(world)).toEqual({
      status: 'purged',
      name: '',
      slug: `purged-${world.org.id}`,
      settings: {},
    })
    expect(
      await world.sql(
        `SELECT org_slug, actor_kind FROM platform.audit_events WHERE org_id = $1 AND event_type = 'org.purged'`,
        [world.org.id],
      ),
    ).toEqual([{ org_slug: world.org.slug, actor_kind: 'system' }])
    const people = await world.sql<{ account: string }>(
      'SELECT account FROM identity.users WHERE home_org_id = $1 OR id = $2 ORDER BY account',
      [world.org.id, world.owner.userId],
    )
    expect(people.map(({ account }) => account)).toEqual(['agent', 'registered'])
    expect(await rowsLeft(neighbour)).toEqual(before)
  })

  it('ID-63 frees the slug for another org', async () => {
    const world = await archived()
    await purge(world)
    await carryOutPurge(world.org.id)
    await world.sql(`INSERT INTO identity.orgs (slug, name, api_version) VALUES ($1, 'Next', '2026-01-01')`, [
      world.org.slug,
    ])
  })

  it('ID-63 goes on where a killed process left it', async () => {
    const world = await archived()
    await purge(world)
    const step = purgeOf(['rooms.votes', 'rooms.round_voters', 'rooms.room_events'])
    expect(await step({ orgId: world.org.id, limit: 1 })).toBe(1)
    const middle = await rowsLeft(world)
    expect(middle['rooms.room_events']).toBeGreaterThan(0)

    await carryOutPurges((work) => work())

    expect(Object.keys(await rowsLeft(world)).sort()).toEqual(['identity.agents', 'platform.audit_events'])
  })

  it('ID-63 lets many at one org take turns, and one end it', async () => {
    const world = await archived()
    await purge(world)
    const ended = await Promise.all(Array.from({ length: 8 }, () => carryOutPurge(world.org.id)))
    expect(ended.filter(Boolean)).toEqual([true])
    expect(await orgRow(world)).toMatchObject({ status: 'purged' })
    const ends = await world.sql(`SELECT FROM platform.audit_events WHERE org_id = $1 AND event_type = 'org.purged'`, [
      world.org.id,
    ])
    expect(ends).toHaveLength(1)
  })

  it('ID-63, PLAT-16 deletes nothing of an org that is not being purged, and no durable event ever', async () => {
    const world = await archived()
    const asked = operation(
      'sweep',
      {},
      () => sql`SELECT identity.maint_org_purge_step(${world.org.id}, 'rooms.votes', 10) AS gone`,
    )
    expect(await asked).toEqual([{ gone: null }])
    expect((await rowsLeft(world))['rooms.votes']).toBe(1)

    await purge(world)
    await expect(
      world.sql('DELETE FROM platform.audit_events WHERE org_id = $1 AND durable', [world.org.id]),
    ).rejects.toMatchObject({ code: 'MH001' })
    await expect(
      operation(
        'sweep',
        {},
        () => sql`SELECT identity.maint_org_purge_step(${world.org.id}, 'identity.orgs', 10) AS gone`,
      ),
    ).rejects.toMatchObject({ code: 'P0002' })
  })

  it('ID-63 does not end while anything is left that goes with the org', async () => {
    const world = await archived()
    await purge(world)
    const end = () => operation('sweep', {}, () => sql`SELECT identity.maint_org_purge_end(${world.org.id}) AS ended`)
    expect(await end()).toEqual([{ ended: false }])
    expect(await orgRow(world)).toMatchObject({ status: 'purging', name: 'Org', slug: world.org.slug })
  })

  it('ID-63 refuses to purge another org than the one at work in', async () => {
    const [world, other] = [await archived(), await archived()]
    const [answer] = await operation(
      'write',
      { orgId: other.org.id },
      () => sql<{ begun: boolean }>`SELECT identity.maint_org_purge_begin(${world.org.id}, ${world.org.slug}) AS begun`,
    )
    expect(answer).toEqual({ begun: false })
  })
})

it('ID-64 says of every tenant table whether it goes with its org', async () => {
  const world = await createWorld(app)
  const SURVIVES = ['identity.agents']
  const undecided = await world.sql<{ name: string }>(
    `SELECT a.attrelid::regclass::text AS name FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
     WHERE a.attname = 'org_id' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relnamespace::regnamespace::text IN ('identity', 'rooms', 'work', 'gate', 'plugins', 'platform')
       AND a.attrelid::regclass::text <> ALL ($1)
       AND a.attrelid::regclass::text NOT IN (SELECT name FROM identity.purged_tables())`,
    [SURVIVES],
  )
  expect(undecided).toEqual([])
})
