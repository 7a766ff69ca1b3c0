import { createHash, randomBytes } from 'node:crypto'
import ICAL from 'ical.js'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor } from '../support/actor.ts'
import { type App, startApp } from '../support/app.ts'
import { createWorld, type TestSpace, type World } from '../support/world.ts'

let app: App
let world: World
beforeAll(async () => {
  app = await startApp({ MOOTHALL_PUBLIC_URL: 'https://meet.example', MOOTHALL_LOG_LEVEL: 'trace' })
  world = await createWorld(app)
})
afterAll(() => world?.close())

const FEED = 'calendarFeed { remindMinutes createdAt }'
const mint = async (person: Actor, remindMinutes = 10): Promise<string> =>
  (await person.mutate('calendarFeedMint', { remindMinutes }, `url ${FEED}`)).url
const revoke = (person: Actor) =>
  person.run(`mutation { calendarFeedRevoke { __typename ... on CalendarFeedRevokePayload { ${FEED} } } }`)
const tokenOf = (url: string) => /^https:\/\/meet\.example\/calendar\/([\w-]{43})\.ics$/.exec(url)![1]!

const get = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(url.replace('https://meet.example', app.url), { method, headers, redirect: 'manual' })
const summariesAt = async (url: string): Promise<string[]> => {
  const answer = await get(url)
  expect(answer.status).toBe(200)
  const events = new ICAL.Component(ICAL.parse(await answer.text())).getAllSubcomponents('vevent')
  return events.map((event) => String(event.getFirstPropertyValue('summary'))).toSorted()
}

/** A schedule of a space, by SQL; the space is called as asked. */
async function schedule(space: TestSpace, name: string, enabled = true): Promise<string> {
  const id = newId()
  await world.sql('UPDATE rooms.spaces SET name = $2 WHERE id = $1', [space.uuid, name])
  await world.sql(
    `INSERT INTO rooms.standup_schedules (org_id, id, space_id, weekdays, open_time, timezone, window_minutes, enabled,
       revision, starts_on, next_open_at)
     VALUES ($1, $2, $3, '{1,2,3,4,5}', '09:30', 'America/New_York', 60, $4, 3, '2027-01-04',
       CASE WHEN $4 THEN now() + interval '30 days' END)`,
    [space.orgId, id, space.uuid, enabled],
  )
  return id
}

async function inOwnSpace(name: string): Promise<{ person: Actor; space: TestSpace }> {
  const person = await world.member({ space: null })
  const space = await world.space()
  await world.join(person, { space })
  await schedule(space, name)
  return { person, space }
}

/** What an answer gives away, but for the id of the request and the state of the connection. */
async function shown(answer: Response) {
  const headers = Object.fromEntries(answer.headers)
  for (const name of ['x-request-id', 'date', 'connection', 'keep-alive']) delete headers[name]
  return { status: answer.status, headers, body: await answer.text() }
}

describe('ROOM-140 an address', () => {
  it('is shown once, and kept as a digest and eight characters', async () => {
    const person = await world.member()
    const url = await mint(person, 25)
    const token = tokenOf(url)

    const [row] = await world.sql('SELECT * FROM rooms.ics_feed_tokens WHERE user_id = $1', [person.userId])
    expect(row).toMatchObject({
      org_id: person.orgId,
      token_hash: createHash('sha256').update(Buffer.from(token, 'base64url')).digest(),
      lookup_prefix: token.slice(0, 8),
      remind_minutes: 25,
      revoked_at: null,
    })
    expect(Buffer.from(token, 'base64url')).toHaveLength(32)
    const { calendarFeed } = await person.run(`{ ${FEED} }`)
    expect(calendarFeed).toEqual({ remindMinutes: 25, createdAt: expect.stringMatching(/Z$/) })
  })

  it('is replaced by the next one, which opens alone', async () => {
    const { person } = await inOwnSpace('Replaced')
    const first = await mint(person)
    const before = (await person.run(`{ ${FEED} }`)).calendarFeed.createdAt
    const second = await mint(person, 0)

    expect((await get(first)).status).toBe(404)
    expect(await summariesAt(second)).toEqual(['Standup: Replaced'])
    const { calendarFeed } = await person.run(`{ ${FEED} }`)
    expect(calendarFeed.remindMinutes).toBe(0)
    expect(calendarFeed.createdAt > before).toBe(true)
  })

  it('opens nothing once it is revoked, and a new one opens again', async () => {
    const { person } = await inOwnSpace('Revoked')
    const url = await mint(person)
    expect(await revoke(person)).toEqual({
      calendarFeedRevoke: { __typename: 'CalendarFeedRevokePayload', calendarFeed: null },
    })
    expect((await get(url)).status).toBe(404)
    expect((await person.run(`{ ${FEED} }`)).calendarFeed).toBeNull()
    expect(await person.mutate('calendarFeedUpdate', { remindMinutes: 5 })).toMatchObject({ code: 'NOT_FOUND' })
    expect(await summariesAt(await mint(person))).toEqual(['Standup: Revoked'])
    expect((await get(url)).status).toBe(404)
  })

  it('keeps its address when the reminder changes', async () => {
    const { person } = await inOwnSpace('Reminded')
    const url = await mint(person, 10)
    const { calendarFeed } = await person.mutate('calendarFeedUpdate', { remindMinutes: 45 }, FEED)
    expect(calendarFeed.remindMinutes).toBe(45)
    expect(await (await get(url)).text()).toContain('TRIGGER:-PT45M')
  })

  it('two made at once leave one that opens', async () => {
    const { person } = await inOwnSpace('Twice')
    const urls = await Promise.all([mint(person), mint(person), mint(person)])
    const states = await Promise.all(urls.map(async (url) => (await get(url)).status))
    expect(states.toSorted()).toEqual([200, 404, 404])
  })
})

describe('ROOM-141 a fetch', () => {
  it('answers in iCalendar form, privately, with a tag', async () => {
    const { person, space } = await inOwnSpace('Own')
    const answer = await get(await mint(person, 15))
    const { status, headers, body } = await shown(answer)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': 'text/calendar; charset=utf-8',
      'cache-control': 'private, max-age=300',
      'content-length': String(Buffer.byteLength(body)),
      etag: expect.stringMatching(/^"[\w-]{43}"$/),
    })
    const [event] = new ICAL.Component(ICAL.parse(body)).getAllSubcomponents('vevent')
    const [{ id }] = (await world.sql('SELECT id FROM rooms.standup_schedules WHERE space_id = $1', [space.uuid])) as [
      { id: string },
    ]
    expect(event!.getFirstPropertyValue('uid')).toMatch(/^sch_[0-9a-z]{26}@meet\.example$/)
    expect(id).toBeTruthy()
    expect(body).toContain('DTSTART;TZID=America/New_York:20270104T093000\r\n')
    expect(body).toContain('DTEND;TZID=America/New_York:20270104T103000\r\n')
    expect(body).toContain('RRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR\r\n')
    expect(body).toContain('SEQUENCE:3\r\n')
    expect(body.match(/BEGIN:VALARM/g)).toHaveLength(1)
  })

  it('by the tag it knows answers 304 without a body, until something changes', async () => {
    const { person, space } = await inOwnSpace('Tagged')
    const url = await mint(person)
    const etag = (await get(url)).headers.get('etag')!
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get(url, { 'if-none-match': known })
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
    }
    expect((await get(url, { 'if-none-match': '"other"' })).status).toBe(200)
    await world.sql(`UPDATE rooms.spaces SET name = 'Other' WHERE id = $1`, [space.uuid])
    const changed = await get(url, { 'if-none-match': etag })
    expect(changed.status).toBe(200)
    expect(changed.headers.get('etag')).not.toBe(etag)
  })

  it('HEAD answers what GET would, without the body; no other method does', async () => {
    const { person } = await inOwnSpace('Headed')
    const url = await mint(person)
    const [got, head] = [await shown(await get(url)), await shown(await get(url, {}, 'HEAD'))]
    expect(head).toEqual({ ...got, body: '' })
    for (const method of ['POST', 'PUT', 'DELETE']) expect((await get(url, {}, method)).status).toBe(404)
  })

  it('unknown, malformed, revoked, replaced: the same 404', async () => {
    const { person } = await inOwnSpace('Hidden')
    const [replaced, live] = [await mint(person), await mint(person)]
    const other = await world.member()
    const revoked = await mint(other)
    await revoke(other)
    const token = tokenOf(live)
    const last = token.at(-1)!
    // The same bytes in another spelling: the last character has two bits that count for nothing.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const respelled = token.slice(0, -1) + alphabet[alphabet.indexOf(last) ^ 1]
    const wrong = token.slice(0, 8) + randomBytes(40).toString('base64url').slice(0, 35)
    const paths = [
      `${randomBytes(32).toString('base64url')}.ics`,
      `${wrong}.ics`,
      `${respelled}.ics`,
      `${token}`,
      `${token}.ICS`,
      `${token}x.ics`,
      `${token.slice(0, -1)}.ics`,
      `${token}=.ics`,
      `../calendar/${wrong}.ics`,
      '.ics',
      '',
      'a/b.ics',
      `${'A'.repeat(4_000)}.ics`,
      '%00.ics',
    ]
    const answers = [...paths.map((path) => `https://meet.example/calendar/${path}`), replaced, revoked].map(
      async (url) => shown(await get(url)),
    )
    const expected = await answers[0]!
    expect(expected.status).toBe(404)
    expect(expected.headers['cache-control']).toBe('no-store')
    for (const answer of answers) expect(await answer).toEqual(expected)
    expect((await get(live)).status).toBe(200)
  })

  it('sixty an hour and person are answered, then none until the hour is over', async () => {
    const { person } = await inOwnSpace('Often')
    const { person: neighbour } = await inOwnSpace('Seldom')
    const [url, other] = [await mint(person), await mint(neighbour)]
    const etag = (await get(url)).headers.get('etag')!
    const states: number[] = []
    for (let at = 1; at < 60; at++) states.push((await get(url, at % 2 ? {} : { 'if-none-match': etag })).status)
    expect(new Set(states)).toEqual(new Set([200, 304]))

    const refused = await get(url, {}, 'HEAD')
    expect(refused.status).toBe(429)
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(3_000)
    expect(wait).toBeLessThanOrEqual(3_600)
    expect((await get(await mint(person))).status).toBe(429)
    expect((await get(other)).status).toBe(200)
  })
})

describe('ROOM-141 it reads as the person', () => {
  it('their spaces alone, what is enabled alone, archived spaces too', async () => {
    const { person, space } = await inOwnSpace('Mine')
    const [off, archived, foreign, left] = [
      await world.space(),
      await world.space(),
      await world.space(),
      await world.space(),
    ]
    for (const each of [off, archived, left]) await world.join(person, { space: each })
    await schedule(off, 'Off', false)
    await schedule(archived, 'Archived')
    await schedule(foreign, 'Foreign')
    await schedule(left, 'Left')
    await world.sql('UPDATE rooms.spaces SET archived_at = now() WHERE id = $1', [archived.uuid])
    const url = await mint(person)
    expect(await summariesAt(url)).toEqual(['Standup: Archived', 'Standup: Left', 'Standup: Mine'])

    await person.mutate('spaceLeave', { id: left.id })
    expect(await summariesAt(url)).toEqual(['Standup: Archived', 'Standup: Mine'])
    await world.sql('UPDATE rooms.standup_schedules SET enabled = false, next_open_at = NULL WHERE space_id = $1', [
      space.uuid,
    ])
    expect(await summariesAt(url)).toEqual(['Standup: Archived'])
  })

  it('nothing of another org, whose feed is another one', async () => {
    const { person } = await inOwnSpace('Here')
    const stranger = await world.otherOrg()
    await schedule(stranger.space, 'There')
    await world.sql(
      `INSERT INTO identity.memberships (org_id, user_id, role, username, joined_at) VALUES ($1, $2, 'member', 'both', now())`,
      [stranger.orgId, person.userId],
    )
    const there = await world.signIn({ ...person, orgId: stranger.orgId } as Actor)
    await world.join(there, { space: stranger.space })
    const [hereUrl, thereUrl] = [await mint(person), await mint(there)]
    expect(await summariesAt(hereUrl)).toEqual(['Standup: Here'])
    expect(await summariesAt(thereUrl)).toEqual(['Standup: There'])

    await stranger.mutate('memberRevoke', { userId: person.id })
    expect((await get(thereUrl)).status).toBe(404)
    expect(await summariesAt(hereUrl)).toEqual(['Standup: Here'])
  })

  it('a name cannot add to it', async () => {
    const { person } = await inOwnSpace('x\r\nEND:VEVENT\r\nBEGIN:VEVENT, \\;')
    const text = await (await get(await mint(person))).text()
    expect(text.match(/^BEGIN:VEVENT\r$/gm)).toHaveLength(1)
    expect(text).toContain('SUMMARY:Standup: x\\nEND:VEVENT\\nBEGIN:VEVENT\\, \\\\\\;\r\n')
  })

  it('ID-58, 59, 63 in a stopped and in an archived org as ever, in one that is being purged no more', async () => {
    const stranger = await world.otherOrg()
    await schedule(stranger.space, 'Ending')
    const url = await mint(stranger)
    const set = (columns: string) => world.sql(`UPDATE identity.orgs SET ${columns} WHERE id = $1`, [stranger.orgId])
    await set('stopped_at = now()')
    expect(await summariesAt(url)).toEqual(['Standup: Ending'])
    await set(`status = 'archived', archived_at = now()`)
    expect(await summariesAt(url)).toEqual(['Standup: Ending'])
    await world.sql(`SELECT identity.maint_org_purge_begin($1, (SELECT slug FROM identity.orgs WHERE id = $1))`, [
      stranger.orgId,
    ])
    expect((await get(url)).status).toBe(404)
  })

  it('ID-65 not somebody who is disabled or erased; of the erased nothing is left', async () => {
    const [disabled, erased] = [(await inOwnSpace('A')).person, (await inOwnSpace('B')).person]
    const [first, second] = [await mint(disabled), await mint(erased)]
    await world.sql(`UPDATE identity.users SET status = 'disabled' WHERE id = $1`, [disabled.userId])
    const { user } = (await erased.run('{ viewer { user { displayName } } }')).viewer
    await erased.mutate('viewerErase', { confirm: user.displayName }, 'erased')
    expect((await get(first)).status).toBe(404)
    expect((await get(second)).status).toBe(404)
    expect(await world.sql('SELECT FROM rooms.ics_feed_tokens WHERE user_id = $1', [erased.userId])).toEqual([])
  })
})

describe('ROOM-23, ROOM-140 the end of a membership ends the feed', () => {
  it.each(['memberRevoke', 'memberLeave'])('by %s, in the same transaction', async (way) => {
    const { person } = await inOwnSpace('Gone')
    const url = await mint(person)
    if (way === 'memberRevoke') await world.owner.mutate('memberRevoke', { userId: person.id })
    else await person.send('mutation { memberLeave { __typename } }')

    const [row] = await world.sql(
      `SELECT t.revoked_at = m.revoked_at AS together FROM rooms.ics_feed_tokens AS t
       JOIN identity.memberships AS m USING (org_id, user_id) WHERE t.user_id = $1`,
      [person.userId],
    )
    expect(row).toEqual({ together: true })
    expect((await get(url)).status).toBe(404)
    // Coming back opens no old address.
    await world.sql('UPDATE identity.memberships SET revoked_at = NULL, revoked_by = NULL WHERE user_id = $1', [
      person.userId,
    ])
    expect((await get(url)).status).toBe(404)
    const facts = await world.sql(
      `SELECT event_type, private_user_id, payload FROM platform.audit_events
       WHERE private_user_id = $1 ORDER BY id`,
      [person.userId],
    )
    expect(facts).toEqual(
      ['minted', 'revoked'].map((what) => ({
        event_type: `calendar_feed.${what}`,
        private_user_id: person.userId,
        payload: {},
      })),
    )
  })

  it('also while a new address is being made', async () => {
    for (let round = 0; round < 8; round++) {
      const person = await world.member()
      const minted = person.attempt('calendarFeedMint', { remindMinutes: 0 }, 'url')
      await Promise.all([minted, world.owner.mutate('memberRevoke', { userId: person.id })])
      const alive = await world.sql('SELECT FROM rooms.ics_feed_tokens WHERE user_id = $1 AND revoked_at IS NULL', [
        person.userId,
      ])
      expect(alive).toEqual([])
    }
  })
})

describe('ROOM-140 in SQL as the app', () => {
  const as = async (viewer: Actor | null, text: string, values: unknown[] = []) => {
    const client = new pg.Client({ connectionString: app.database.appUrl })
    await client.connect()
    try {
      await client.query('BEGIN')
      await client.query(`SELECT set_config('moothall.org_id', $1, true), set_config('moothall.user_id', $2, true)`, [
        world.org.id,
        viewer?.userId ?? '',
      ])
      return (await client.query(text, values)).rows
    } catch (error) {
      return (error as pg.DatabaseError).code
    } finally {
      await client.end()
    }
  }

  it('nobody reads another’s feed, nor anybody a digest', async () => {
    const person = await world.member()
    await mint(person)
    const columns = 'SELECT remind_minutes FROM rooms.ics_feed_tokens WHERE user_id = $1'
    expect(await as(person, columns, [person.userId])).toEqual([{ remind_minutes: 10 }])
    for (const other of [world.owner, null]) expect(await as(other, columns, [person.userId])).toEqual([])
    for (const column of ['token_hash', 'lookup_prefix']) {
      expect(await as(person, `SELECT ${column} FROM rooms.ics_feed_tokens`)).toBe('42501')
    }
    expect(await as(person, 'DELETE FROM rooms.ics_feed_tokens')).toBe('42501')
  })

  it('the helper of a membership’s end ends no feed of a member', async () => {
    const person = await world.member()
    await mint(person)
    expect(await as(world.owner, 'SELECT rooms.ics_feed_revoke($1) AS revoked', [person.userId])).toEqual([
      { revoked: false },
    ])
    await as(world.owner, 'SELECT rooms.erase_personal($1)', [person.userId])
    expect((await person.run(`{ ${FEED} }`)).calendarFeed).not.toBeNull()
  })

  it('what was revoked stays revoked (MH008), but for a new address', async () => {
    const person = await world.member()
    await mint(person)
    await revoke(person)
    expect(
      await as(person, 'UPDATE rooms.ics_feed_tokens SET revoked_at = NULL WHERE user_id = $1', [person.userId]),
    ).toBe('MH008')
  })
})

it('PLAT-23, ROOM-141 no token is in a log, a row, an error or an event', async () => {
  const { person } = await inOwnSpace('Canary')
  const url = await mint(person)
  const token = tokenOf(url)
  await get(url)
  await get(url.replace('.ics', '.isc'))
  await get(`${url}?again=1`)
  await person.run(`{ ${FEED} viewer { user { id } } }`)
  // The database fails under a fetch; its error quotes what it is about.
  await world.sql('ALTER FUNCTION rooms.preauth_ics_token(text) RENAME TO preauth_ics_token_away')
  const failed = await shown(await get(url))
  await world.sql('ALTER FUNCTION rooms.preauth_ics_token_away(text) RENAME TO preauth_ics_token')
  expect(failed.status).toBe(500)

  const rows = await world.sql<{ name: string }>(
    `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
     WHERE table_schema IN ('identity', 'platform', 'rooms') AND table_type = 'BASE TABLE'`,
  )
  const stored: string[] = []
  for (const { name } of rows) stored.push(JSON.stringify(await world.sql(`SELECT to_jsonb(t) AS t FROM ${name} AS t`)))
  for (const text of [app.log(), stored.join(), failed.body, JSON.stringify(failed.headers)]) {
    expect(text).not.toContain(token)
  }
  expect(app.log()).toContain('operation failed')
})
