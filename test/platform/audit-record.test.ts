import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { operation } from '../../src/db/operation.ts'
import { sql } from '../../src/db/sql.ts'
import { newId } from '../../src/lib/type-id.ts'
import { defineEvent, EventFaultError, type EventType, record } from '../../src/platform/index.ts'
import { createDatabase, type TestDatabase } from '../support/database.ts'
import { connect, makeOrg, type Org, openPoolOn } from './audit-world.ts'

const painted = defineEvent('shed.painted', {
  category: 'activity',
  deliverable: true,
  payload: z.strictObject({ colour: z.string(), coats: z.number().optional() }),
})
const noted = defineEvent('shed.noted', {
  category: 'audit_only',
  durable: true,
  payload: z.record(z.string(), z.unknown()),
})

let database: TestDatabase
let owner: pg.Client
let org: Org
let closePool: () => Promise<void>

beforeAll(async () => {
  database = await createDatabase()
  owner = await connect(database.ownerUrl)
  org = await makeOrg(owner, 'acme')
  closePool = openPoolOn(database)
})
afterAll(async () => {
  await closePool()
  await owner.end()
  await database.drop()
})

const rename = (name: string) => sql`UPDATE identity.orgs SET name = ${name} WHERE id = ${org.id}`
const nameNow = async () => (await owner.query('SELECT name FROM identity.orgs WHERE id = $1', [org.id])).rows[0].name
const rowOf = async (id: string) =>
  (await owner.query('SELECT * FROM platform.audit_events WHERE id = $1', [id])).rows[0]
const countNow = async () => Number((await owner.query('SELECT count(*) FROM platform.audit_events')).rows[0].count)
const write = <T>(body: () => Promise<T>, scope: object = org.scope) => operation('write', scope, body)

describe('record', () => {
  it('PLAT-11 writes who, what, where and under which request, in the transaction of the change', async () => {
    const [requestId, spaceId] = [newId(), newId()]
    const id = await write(
      () =>
        record(org.person, painted, {
          target: { kind: 'Space', id: spaceId },
          spaceId,
          spaceSlug: 'garden',
          reason: 'rust',
          payload: { colour: 'red' },
        }),
      { ...org.scope, requestId },
    )
    expect(await rowOf(id)).toMatchObject({
      org_id: org.id,
      category: 'activity',
      event_type: 'shed.painted',
      actor_kind: 'human',
      actor_user_id: org.person.userId,
      actor_key_id: null,
      target_kind: 'Space',
      target_id: spaceId,
      space_id: spaceId,
      room_id: null,
      org_slug: 'acme',
      space_slug: 'garden',
      reason: 'rust',
      payload: { colour: 'red' },
      request_id: requestId,
      durable: false,
      deliverable: true,
    })
  })

  it('PLAT-11 records the system as nobody', async () => {
    const id = await write(() => record({ kind: 'system', orgId: org.id }, noted, { payload: {} }), { orgId: org.id })
    expect(await rowOf(id)).toMatchObject({
      actor_kind: 'system',
      actor_user_id: null,
      durable: true,
      request_id: null,
    })
  })

  it('PLAT-65 records what a request starts in operations of its own under that request', async () => {
    const requestId = newId()
    const id = await operation('read', { requestId }, () => write(() => record(org.person, noted, { payload: {} })))
    expect(await rowOf(id)).toMatchObject({ request_id: requestId })
  })

  it('PLAT-11 puts a guest’s events into the guest’s room, and into no other', async () => {
    const [roomId, other] = [newId(), newId()]
    const guest = { ...org.person, account: 'guest', standing: 'GUEST', roomId } as const
    const scope = { ...org.scope, roomId }
    const id = await write(() => record(guest, painted, { payload: { colour: 'blue' } }), scope)
    expect(await rowOf(id)).toMatchObject({ room_id: roomId })
    const elsewhere = write(() => record(guest, painted, { roomId: other, payload: { colour: 'blue' } }), scope)
    await expect(elsewhere).rejects.toMatchObject({ code: '42501' })
  })

  it('PLAT-11 leaves no event of a change that fails after it', async () => {
    const before = await countNow()
    const failing = write(async () => {
      await rename('lost')
      await record(org.person, painted, { payload: { colour: 'red' } })
      throw new Error('too late')
    })
    await expect(failing).rejects.toThrow('too late')
    expect(await countNow()).toBe(before)
    expect(await nameNow()).toBe('acme')
  })

  it.each([
    ['an unregistered type', { ...painted } as EventType<{ colour: string }>, { colour: 'red' }],
    ['a payload off its schema', painted, { colour: 'red', shade: 'dark' }],
    ['a payload beyond its bound', noted, { long: 'x'.repeat(16_384) }],
  ])('PLAT-12 fails the change with %s', async (_what, type, payload) => {
    const before = await countNow()
    const failing = write(async () => {
      await rename('lost')
      await record(org.person, type as EventType, { payload })
    })
    await expect(failing).rejects.toBeInstanceOf(EventFaultError)
    expect(await countNow()).toBe(before)
    expect(await nameNow()).toBe('acme')
  })

  it('PLAT-12 takes a payload that just fits', async () => {
    const id = await write(() => record(org.person, noted, { payload: { long: 'x'.repeat(16_384 - 12) } }))
    expect((await rowOf(id)).payload.long).toHaveLength(16_384 - 12)
  })

  it('PLAT-11 refuses to record outside a write operation', async () => {
    const reading = operation('read', org.scope, () => record(org.person, painted, { payload: { colour: 'red' } }))
    await expect(reading).rejects.toBeInstanceOf(EventFaultError)
  })

  it('PLAT-14 stores no secret, wherever in the payload it stands', async () => {
    const canary = 'canary-7Jq2'
    const payload = {
      apiKey: canary,
      nested: [{ name: 'Authorization', value: canary }],
      text: `Bearer ${canary}`,
      json: JSON.stringify({ password: canary }),
      token: `mhs_${canary.repeat(4)}`,
      kept: 'garden',
    }
    const id = await write(() => record(org.person, noted, { payload }))
    const stored = JSON.stringify((await rowOf(id)).payload)
    expect(stored).not.toContain(canary)
    expect(stored).toContain('garden')
  })

  it('PLAT-3 cannot record into another org', async () => {
    const strange = await makeOrg(owner, 'strange')
    const failing = write(() => record(strange.person, painted, { payload: { colour: 'red' } }))
    await expect(failing).rejects.toMatchObject({ code: '42501' })
  })
})

describe('the table', () => {
  const insert = (column: string, value: string) =>
    write(async () => {
      await connectAsApp(`INSERT INTO platform.audit_events (org_id, category, event_type, actor_kind, ${column})
        VALUES ('${org.id}', 'activity', 'shed.painted', 'system', ${value})`)
    })
  const connectAsApp = async (statement: string) => {
    const app = await connect(database.appUrl)
    try {
      await app.query(`BEGIN; SELECT set_config('moothall.org_id', '${org.id}', true); ${statement}; COMMIT`)
    } finally {
      await app.end()
    }
  }

  it.each([
    ['era', '7'],
    ['xact_id', `'7'::xid8`],
    ['created_at', 'now()'],
  ])('PLAT-16 lets the app write no %s', async (column, value) => {
    await expect(insert(column, value)).rejects.toMatchObject({ code: '42501' })
  })

  it('PLAT-16 changes and loses no row, neither by the app nor by the owner', async () => {
    await write(() => record(org.person, painted, { payload: { colour: 'red' } }))
    for (const statement of [
      `UPDATE platform.audit_events SET reason = 'forged'`,
      'DELETE FROM platform.audit_events',
      'TRUNCATE platform.audit_events CASCADE',
    ]) {
      await expect(connectAsApp(statement)).rejects.toMatchObject({ code: '42501' })
      await expect(owner.query(statement)).rejects.toMatchObject({ code: 'MH001' })
    }
  })

  it('ID-59 takes no events of an archived org but those about itself and its sign-ins', async () => {
    const archived = await makeOrg(owner, 'archived')
    await owner.query(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [archived.id])
    const failing = write(() => record(archived.person, painted, { payload: { colour: 'red' } }), archived.scope)
    await expect(failing).rejects.toMatchObject({ code: 'MH012' })
    const bySystem = write(
      () => record({ kind: 'system', orgId: archived.id }, painted, { payload: { colour: 'red' } }),
      { orgId: archived.id },
    )
    await expect(bySystem).resolves.toBeTypeOf('string')
  })
})
