import { afterAll, beforeAll, expect, it } from 'vitest'
import { Asker } from '../support/actor.ts'
import { type App, startApp } from '../support/app.ts'
import { openRoomStream } from '../support/room-stream.ts'
import { createWorld, type World } from '../support/world.ts'

let app: App
let world: World
beforeAll(async () => {
  app = await startApp({ MOOTHALL_LOG_LEVEL: 'trace' })
  world = await createWorld(app)
})
afterAll(() => world.close())

it('ROOM-150, 151, PLAT-23 a link’s token, a browser’s key and a guest’s session stand in no row, log, error, event or body', async () => {
  const { owner, home } = world
  const { room } = await world.pokerRoom({ host: owner })
  const url = 'http://127.0.0.1:9/receiver'
  for (const scope of [{}, { spaceId: home.id }])
    await owner.mutate('webhookCreate', { ...scope, url, eventTypes: ['*'] })
  const stream = openRoomStream({
    url: `${app.url}/graphql`,
    token: owner.client.token!,
    variables: { roomId: room.id },
  })
  await stream.next(({ __typename }) => __typename === 'RoomSnapshot')
  const guestKey = 'canary-of-a-browser-that-keeps-it'
  const ask = (token: string, more: object = {}) =>
    new Asker('', app.client()).mutate(
      'roomLinkRedeem',
      { token, displayName: 'Guest', guestKey, delivery: 'BEARER', ...more },
      'sessionToken room { id title }',
      '... on InvalidInputError { issues { path message } }',
    )

  const minted = await owner.mutate('roomLinkMint', { roomId: room.id }, 'token link { id }')
  const token = minted.token as string
  const [first, again] = [await ask(token), await ask(token)]
  const sessions = [first.sessionToken, again.sessionToken] as string[]
  const guest = app.client(sessions[0])
  const shown: unknown[] = [
    await ask(`${token.slice(0, -1)}~`),
    await ask(token, { guestKey: guestKey.slice(0, 12) }),
    await ask(token, { displayName: '\u202e' }),
    await guest.send(`{ node(id: "${token}") { id } }`),
    await guest.run('query ($id: ID!) { room(id: $id) { links { id } participants { user { displayName } } } }', {
      id: room.id,
    }),
    await owner.run('query ($id: ID!) { room(id: $id) { links { id redemptions expiresAt } } }', { id: room.id }),
    await owner.run('{ auditEvents(first: 50) { nodes { type payload } } activity(first: 50) { nodes { type } } }'),
  ]
  const facts = JSON.stringify(shown.at(-1))
  for (const type of ['room_link.minted', 'room_link.redeemed', 'session.created']) expect(facts).toContain(type)
  // What the database says of a row that it refuses quotes the row.
  await world.sql(`
    CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'planted %', NEW USING DETAIL = NEW::text; END $$;
    CREATE TRIGGER planted BEFORE INSERT ON rooms.room_guests FOR EACH ROW EXECUTE FUNCTION planted()`)
  shown.push(await ask(token, { guestKey: `${guestKey}2` }).catch(String))
  await world.sql('DROP TRIGGER planted ON rooms.room_guests')
  await owner.mutate('roomLinkRevoke', { id: minted.link.id })
  shown.push(await ask(token), stream.answers)
  stream.close()

  const hashes = await world.sql<{ hash: string }>(
    `SELECT encode(token_hash, 'hex') AS hash FROM rooms.room_links
     UNION SELECT encode(guest_key_hash, 'hex') FROM rooms.room_guests`,
  )
  expect(hashes).toHaveLength(2)
  for (const secret of [token, guestKey, ...sessions, ...hashes.map(({ hash }) => hash)]) {
    expect(secret.length).toBeGreaterThan(30)
    expect(app.log()).not.toContain(secret)
    expect(JSON.stringify(shown)).not.toContain(secret)
  }
  const tables = await world.sql<{ name: string }>(
    `SELECT table_schema || '.' || table_name AS name FROM information_schema.tables
     WHERE table_schema IN ('identity', 'rooms', 'work', 'gate', 'plugins', 'platform') AND table_type = 'BASE TABLE'`,
  )
  for (const secret of [token, guestKey, ...sessions]) {
    for (const { name } of tables) {
      const found = await world.sql(
        `SELECT FROM ${name} AS t WHERE strpos(t::text, $1) > 0 OR strpos(t::text, $2) > 0`,
        [secret, Buffer.from(secret).toString('hex')],
      )
      expect([name, found]).toEqual([name, []])
    }
  }
})
