import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IdentityWorld, outcome, type Query } from './identity-world.ts'
import { plantRows } from './plant-rows.ts'

let world: IdentityWorld
let superuser: pg.Client

beforeAll(async () => {
  world = await IdentityWorld.open()
  superuser = new pg.Client({ connectionString: world.superuserUrl })
  await superuser.connect()
})

afterAll(async () => {
  await superuser?.end()
  await world?.close()
})

/** Writes a fact of the org; the columns given replace the usual ones. */
function record(query: Query, org: string, columns: Record<string, unknown> = {}) {
  const row = { org_id: org, category: 'audit_only', event_type: 'space.created', actor_kind: 'system', ...columns }
  const names = Object.keys(row)
  return query<{ id: string; era: number }>(
    `INSERT INTO platform.audit_events (${names.join(', ')}) VALUES (${names.map((_, at) => `$${at + 1}`).join(', ')})
     RETURNING id, era`,
    Object.values(row),
  )
}

describe('PLAT-16 on every append-only table', () => {
  it('is refused to the app by grant and to the owner by trigger', async () => {
    const { rows: tables } = await superuser.query<{ name: string; column: string; pruned: boolean }>(
      `SELECT DISTINCT tgrelid::regclass::text AS name, attname AS column,
         EXISTS (SELECT FROM pg_trigger p WHERE p.tgrelid = t.tgrelid AND encode(p.tgargs, 'escape') ~ 'prune') AS pruned
       FROM pg_trigger t JOIN pg_attribute ON attrelid = tgrelid AND attnum = 1
       WHERE tgfoid = 'platform.append_only'::regproc`,
    )
    expect(tables.map(({ name }) => name)).toContain('platform.audit_events')
    for (const { name, column, pruned } of tables) {
      const codes = await attemptAll(name, [
        `UPDATE ${name} SET ${column} = ${column}`,
        `TRUNCATE ${name} CASCADE`,
        ...(pruned ? [] : [`DELETE FROM ${name}`]),
      ])
      expect({ name, ...codes }).toEqual({ name, moothall_app: ['42501'], moothall_owner: ['MH001'] })
    }
  })

  /** The codes that each role is refused with, over a table that holds a row. */
  async function attemptAll(table: string, statements: string[]): Promise<Record<string, string[]>> {
    const codes: Record<string, string[]> = {}
    await superuser.query('BEGIN')
    await plantRows(superuser, ['019480d2-0000-7000-8000-000000000001'], table)
    await superuser.query('SET LOCAL session_replication_role = origin')
    for (const role of ['moothall_app', 'moothall_owner']) {
      const found = new Set<string>()
      for (const statement of statements) {
        await superuser.query('SAVEPOINT attempt')
        await superuser.query(`SET LOCAL ROLE ${role}`)
        found.add(await outcome(superuser.query(statement)))
        await superuser.query('ROLLBACK TO SAVEPOINT attempt')
      }
      codes[role] = [...found]
    }
    await superuser.query('ROLLBACK')
    return codes
  }

  it('PLAT-16 lets only a purge take rows, and never a durable one', async () => {
    const org = await world.org()
    const plain = await world.as({ org }, (query) => record(query, org))
    const durable = await world.as({ org }, (query) => record(query, org, { durable: true }))
    const remove = (result: typeof plain) =>
      outcome(
        world.asOwner((query) =>
          query('DELETE FROM platform.audit_events WHERE org_id = $1 AND id = $2', [org, result.rows[0]?.id]),
        ),
      )
    const become = (status: string) =>
      world.asOwner((query) =>
        query('UPDATE identity.orgs SET status = $2, archived_at = now() WHERE id = $1', [org, status]),
      )

    const whileActive = await remove(plain)
    await become('archived')
    const whileArchived = await remove(plain)
    await become('purging')

    expect([whileActive, whileArchived]).toEqual(['MH001', 'MH001'])
    expect(await remove(durable)).toBe('MH001')
    expect(await remove(plain)).toBe('done')
    expect(await outcome(world.as({ org }, (query) => query('DELETE FROM platform.audit_events WHERE durable')))).toBe(
      '42501',
    )
  })
})

describe('the stream of facts', () => {
  it.each(['era', 'xact_id', 'created_at'])('PLAT-17 does not let the app forge %s', async (column) => {
    const org = await world.org()
    const value = column === 'created_at' ? '2020-01-01' : '1'
    expect(await outcome(world.as({ org }, (query) => record(query, org, { [column]: value })))).toBe('42501')
  })

  it.each([
    ['human', {}],
    ['agent', {}],
    ['api_key', { actor_user_id: '019480d2-0000-7000-8000-000000000001' }],
    ['system', { actor_user_id: '019480d2-0000-7000-8000-000000000001' }],
  ])('PLAT-11 refuses an event of kind %s that names the wrong actor', async (actor_kind, columns) => {
    const org = await world.org()
    expect(await outcome(world.as({ org }, (query) => record(query, org, { actor_kind, ...columns })))).toBe('23514')
  })

  it('PLAT-14 bounds a payload to 16 KiB, and lets a deleted comment keep its history', async () => {
    const org = await world.org()
    const payload = JSON.stringify({ body: 'x'.repeat(17_000) })
    const put = (event_type: string) =>
      outcome(world.as({ org }, (query) => record(query, org, { event_type, payload })))
    expect(await put('comment.updated')).toBe('23514')
    expect(await put('comment.deleted')).toBe('done')
  })

  it('ID-59 takes nothing from an archived org but what concerns the org, sign-ins and profiles', async () => {
    const org = await world.org()
    const user = await world.member(org)
    await world.as({ org }, (query) =>
      query(`UPDATE identity.orgs SET status = 'archived', archived_at = now() WHERE id = $1`, [org]),
    )
    const put = (event_type: string, columns: Record<string, unknown> = { actor_kind: 'human', actor_user_id: user }) =>
      outcome(world.as({ org, user }, (query) => record(query, org, { event_type, ...columns })))

    expect(await put('space.created')).toBe('MH012')
    expect(await put('organ.played')).toBe('MH012')
    expect(await put('space.created', {})).toBe('done')
    for (const type of ['org.updated', 'auth.sign_in_failed', 'session.created', 'user.updated']) {
      expect(await put(type)).toBe('done')
    }
  })

  it('PLAT-25 names an org once a transaction, when it commits', async () => {
    const [org, other] = [await world.org(), await world.org()]
    const listener = new pg.Client({ connectionString: world.superuserUrl })
    await listener.connect()
    const heard: string[] = []
    listener.on('notification', ({ channel, payload }) => heard.push(`${channel} ${payload}`))
    await listener.query('LISTEN moothall_audit')

    await world.as({ org }, async (query) => {
      await record(query, org)
      await record(query, org)
    })
    await outcome(
      world.as({ org }, async (query) => {
        await record(query, org)
        throw new Error('undone')
      }),
    )
    await world.as({ org: other }, (query) => record(query, other))
    await expect.poll(() => heard.at(-1)).toBe(`moothall_audit ${other}`)

    expect(heard).toEqual([`moothall_audit ${org}`, `moothall_audit ${other}`])
    await listener.end()
  })

  it('PLAT-18 begins a new era when transaction ids have started again, and only then', async () => {
    const org = await world.org()
    const era = () =>
      world.as(
        {},
        async (query) => (await query<{ era: number }>('SELECT platform.maint_audit_era() AS era')).rows[0]?.era,
      )
    // A writer that is still running holds a lower id than the committed one.
    const slow = await world.app.connect()
    await slow.query('BEGIN; SELECT pg_current_xact_id()')
    await world.as({ org }, (query) => record(query, org))
    expect(await era()).toBe(1)
    await slow.query('ROLLBACK')
    slow.release()

    await world.asOwner((query) => record(query, org, { xact_id: '900000000000' }))

    expect(await era()).toBe(2)
    expect(await era()).toBe(2)
    const next = await world.as({ org }, (query) => record(query, org))
    expect(next.rows[0]?.era).toBe(2)
  })
})
