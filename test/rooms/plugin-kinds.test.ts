import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { act, RETRO, RetroPlugin, retroRoom } from '../support/retro-plugin.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
let plugin: RetroPlugin
beforeAll(async () => {
  world = await createWorld(await startApp())
  plugin = new RetroPlugin()
})
afterAll(() => world.close())

const declaration = RETRO.declaration as { phases: string[]; initial: string; actions: Record<string, object> }
const draft = declaration.actions['draft']!
const withInput = (input: unknown) => ({ ...declaration, actions: { draft: { ...draft, input } } })
const kindRow = async (kind: string) =>
  (
    await world.sql(
      'SELECT provider, install_id, retired_at IS NOT NULL AS retired FROM rooms.room_kinds WHERE org_id = $1 AND kind = $2',
      [world.org.id, kind],
    )
  )[0]

it('ROOM-160 refuses a kind that is declared in any other shape', async () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `d${at}`,
      { anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] },
    ]),
  )
  const declarations: unknown[] = [
    null,
    {},
    { ...declaration, more: 1 },
    { ...declaration, phases: [] },
    { ...declaration, phases: ['collect', 'discuss'] },
    { ...declaration, phases: ['done', 'collect', 'discuss'] },
    { ...declaration, phases: ['collect', 'collect', 'discuss', 'done'] },
    { ...declaration, initial: 'elsewhere' },
    { ...declaration, initial: 'done' },
    { ...declaration, actions: { draft: { ...draft, who: 'admin' } } },
    { ...declaration, actions: { draft: { ...draft, phases: ['elsewhere'] } } },
    { ...declaration, actions: { draft: { ...draft, phases: ['done'] } } },
    { ...declaration, actions: { draft: { ...draft, to: 'elsewhere' } } },
    { ...declaration, actions: { draft: { ...draft, more: 1 } } },
    withInput('text'),
    withInput({ type: 'nothing' }),
    withInput({ typ: 'object' }),
    withInput({ type: 'string', pattern: '(a+)+$' }),
    withInput({ type: 'object', patternProperties: { '(a+)+$': true } }),
    withInput({ type: 'array', uniqueItems: true }),
    withInput({ $async: true, type: 'object' }),
    withInput({ $ref: 'https://example.com/schema.json' }),
    withInput({ $ref: '#/%' }),
    withInput({ $ref: '#' }),
    withInput({ $ref: '#/$defs/d0', $defs: { ...doubling, d40: { type: 'string' } } }),
    withInput({ type: 'string', description: 'x'.repeat(40_000) }),
    withInput(JSON.parse(`${'{"not":'.repeat(100)}{}${'}'.repeat(100)}`)),
  ]
  for (const [at, wrong] of declarations.entries()) {
    const refused = plugin.install(world.org.id, { kinds: [{ ...RETRO, kind: 'board', declaration: wrong }] })
    await expect(refused, `declaration ${at}`).rejects.toMatchObject({ name: 'UnfitKindError', kind: 'board' })
  }
  const others = [
    { kind: 'Board' },
    { kind: '' },
    { kind: 'b'.repeat(65) },
    { display: '' },
    { display: 'd'.repeat(65) },
    { configSchema: { type: 'string', pattern: 'x' } },
    { initialState: { cards: [] } },
    { initialState: { shared: {}, private: { [world.owner.id]: {} } } },
    { initialState: { shared: 'x'.repeat(300_000) } },
  ]
  for (const wrong of others) {
    const refused = plugin.install(world.org.id, { kinds: [{ ...RETRO, kind: 'board', ...wrong }] })
    await expect(refused, JSON.stringify(wrong).slice(0, 80)).rejects.toMatchObject({ name: 'UnfitKindError' })
  }
  expect(await kindRow('board')).toBeUndefined()
  await plugin.install(world.org.id, {
    provider: 'boards',
    kinds: [
      {
        ...RETRO,
        kind: 'board',
        declaration: withInput({
          $ref: '#/$defs/card',
          $defs: { card: { type: 'object', properties: { pattern: true } } },
        }),
      },
    ],
  })
  expect(await kindRow('board')).toMatchObject({ provider: 'boards', retired: false })
})

it('ROOM-160 refuses a kind that is declared twice, and takes neither', async () => {
  const kinds = [
    { ...RETRO, kind: 'twice' },
    { ...RETRO, kind: 'twice', display: 'Again' },
  ]
  await expect(plugin.install(world.org.id, { kinds })).rejects.toMatchObject({ name: 'UnfitKindError', kind: 'twice' })
  expect(await kindRow('twice')).toBeUndefined()
})

it('ROOM-160 a kind is one plugin’s in an org, also when retired, and a core kind nobody’s; two orgs may have the same', async () => {
  const first = await plugin.install(world.org.id, { provider: 'first', kinds: [{ ...RETRO, kind: 'shared' }] })
  for (const kind of ['shared', 'poker', 'standup']) {
    const taken = plugin.install(world.org.id, { provider: 'second', kinds: [{ ...RETRO, kind }] })
    await expect(taken).rejects.toMatchObject({ name: 'UnfitKindError', kind })
  }
  await expect(plugin.install(world.org.id, { provider: 'core', kinds: [RETRO] })).rejects.toThrow()
  await plugin.uninstall(world.org.id, first)
  expect(await kindRow('shared')).toEqual({ provider: 'first', install_id: null, retired: true })
  await expect(
    plugin.install(world.org.id, { provider: 'second', kinds: [{ ...RETRO, kind: 'shared' }] }),
  ).rejects.toMatchObject({ name: 'UnfitKindError' })
  const { orgId } = await world.otherOrg()
  await plugin.install(orgId, { provider: 'second', kinds: [{ ...RETRO, kind: 'shared' }] })
  expect(await kindRow('shared')).toMatchObject({ provider: 'first' })
  await plugin.uninstall(world.org.id, first)
})

it('ROOM-163 rooms of a retired kind load, are renamed, end and go; the same plugin revives it', async () => {
  const host = await world.member()
  const installId = await plugin.install(world.org.id)
  const room = await retroRoom(world, host)
  await act(host, room, 'remark', { text: 'kept' })
  // An upgrade to a version without the kind, which has another one.
  await plugin.install(world.org.id, { installId, kinds: [{ ...RETRO, kind: 'retro2' }] })
  expect(await kindRow('retro')).toEqual({ provider: 'retro', install_id: null, retired: true })
  const create = () =>
    host.mutate('roomCreate', {
      spaceId: world.home.id,
      kind: 'retro',
      title: 'Retro',
      config: { plugin: { columns: ['x'] } },
    })
  expect(await create()).toMatchObject({ code: 'KIND_RETIRED' })
  expect(await act(host, room, 'remark', { text: 'x' })).toMatchObject({ code: 'PLUGIN_DISABLED' })
  expect((await host.room(room, 'state')).state.shared).toEqual({ cards: ['kept'] })
  expect(await host.mutate('roomRename', { roomId: room.id, title: 'New' }, 'room { title }')).toMatchObject({
    room: { title: 'New' },
  })
  expect(await host.mutate('roomEnd', { roomId: room.id }, 'room { phase }')).toMatchObject({ room: { phase: 'done' } })
  expect(await host.mutate('roomReopen', { roomId: room.id }, 'room { phase }')).toMatchObject({
    room: { phase: 'collect' },
  })

  const again = await plugin.install(world.org.id)
  expect(await kindRow('retro')).toEqual({ provider: 'retro', install_id: again, retired: false })
  expect(await act(host, room, 'remark', { text: 'more' })).toMatchObject({ __typename: 'RoomActPayload' })
  await plugin.uninstall(world.org.id, again)
  expect(await act(host, room, 'remark', { text: 'x' })).toMatchObject({ code: 'PLUGIN_DISABLED' })
  expect(await host.mutate('roomDelete', { id: room.id })).toMatchObject({ __typename: 'RoomDeletePayload' })
})

it('ROOM-32, ROOM-163 as moothall_app no kind with rooms goes, and no room leaves the declared phases', async () => {
  const host = await world.member()
  await plugin.install(world.org.id)
  const room = await retroRoom(world, host)
  const client = new pg.Client({ connectionString: world.app.database.appUrl })
  await client.connect()
  try {
    const asApp = async (text: string, values: unknown[]) => {
      await client.query('BEGIN')
      try {
        await client.query(`SELECT set_config('moothall.org_id', $1, true)`, [world.org.id])
        return await client.query(text, values)
      } finally {
        await client.query('ROLLBACK')
      }
    }
    await expect(asApp(`DELETE FROM rooms.room_kinds WHERE kind = 'retro'`, [])).rejects.toMatchObject({
      code: '42501',
    })
    await expect(
      asApp(`UPDATE rooms.rooms SET phase = 'elsewhere', version = version + 1 WHERE id = $1`, [room.uuid]),
    ).rejects.toMatchObject({ code: 'MH010' })
  } finally {
    await client.end()
  }
  await expect(world.sql(`DELETE FROM rooms.room_kinds WHERE kind = 'retro'`)).rejects.toMatchObject({ code: '23001' })
})
