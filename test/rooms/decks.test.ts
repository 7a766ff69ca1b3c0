import { afterAll, beforeAll, expect, it } from 'vitest'
import { encodeId } from '../../src/graphql/ids.ts'
import { newId } from '../../src/lib/type-id.ts'
import type { Actor, Outcome } from '../support/actor.ts'
import { startApp } from '../support/app.ts'
import { createWorld, type TestSpace, uuidOf, type World } from '../support/world.ts'

let world: World

beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

const DECK = 'deck { id name cards ordinal } space { id decks { name } }'
type Cards = { name?: string; cards?: readonly string[]; ordinal?: boolean }
const create = (person: Actor, space: TestSpace, deck: Cards = {}): Promise<Outcome> =>
  person.mutate(
    'deckCreate',
    { spaceId: space.id, name: `Deck ${newId()}`, cards: ['1', '2'], ...deck },
    DECK,
    '... on LimitReachedError { limit }',
  )
const update = (person: Actor, id: string, deck: Cards): Promise<Outcome> =>
  person.mutate('deckUpdate', { id, ...deck }, DECK)
const remove = (person: Actor, id: string): Promise<Outcome> =>
  person.mutate('deckDelete', { id }, 'deckId space { id decks { name } }')
const decksOf = async (person: Actor, space: TestSpace) =>
  (await person.run('query ($id: ID!) { space(id: $id) { decks { id name cards ordinal } } }', { id: space.id })).space
    ?.decks
const factsOf = (space: TestSpace) =>
  world.sql(
    `SELECT event_type, category, deliverable, target_kind, target_id, payload, room_id
     FROM platform.audit_events WHERE space_id = $1 ORDER BY id`,
    [space.uuid],
  )
const storedIn = (space: TestSpace) =>
  world.sql('SELECT to_jsonb(d) AS deck FROM rooms.decks AS d WHERE space_id = $1 ORDER BY id', [space.uuid])

it('ROOM-57 a member makes, changes and deletes a deck of their space', async () => {
  const space = await world.space()
  const member = await world.member({ space })
  const made = await create(member, space, { name: ' Halves ', cards: [' ½', '1', '1½', '?'] })
  const { id } = made['deck']
  expect(id).toMatch(/^dck_/)
  expect(made).toMatchObject({
    deck: { name: 'Halves', cards: ['½', '1', '1½', '?'], ordinal: false },
    space: { id: space.id, decks: [{ name: 'Halves' }] },
  })
  // Whoever made it, it is the space's.
  const other = await world.member({ space })
  expect(await update(other, id, { cards: ['S', 'M'], ordinal: true })).toMatchObject({
    deck: { name: 'Halves', cards: ['S', 'M'], ordinal: true },
  })
  expect(await update(other, id, { name: 'Shirts' })).toMatchObject({ deck: { name: 'Shirts', cards: ['S', 'M'] } })
  await create(member, space, { name: 'A first' })
  expect((await decksOf(member, space)).map(({ name }: { name: string }) => name)).toEqual(['A first', 'Shirts'])
  expect(await remove(other, id)).toMatchObject({ deckId: id, space: { decks: [{ name: 'A first' }] } })
  expect(await remove(other, id)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'id'] })

  const fact = (event_type: string, payload: object = {}) => ({
    event_type,
    category: 'audit_only',
    deliverable: false,
    target_kind: 'Deck',
    target_id: uuidOf(id),
    payload: { deckId: uuidOf(id), ...payload },
    room_id: null,
  })
  const facts = await factsOf(space)
  expect(facts.filter(({ target_id }) => target_id === uuidOf(id))).toEqual([
    fact('deck.created'),
    fact('deck.updated', { fields: ['cards', 'ordinal'] }),
    fact('deck.updated', { fields: ['name'] }),
    fact('deck.deleted'),
  ])
  expect(JSON.stringify(facts)).not.toMatch(/Halves|Shirts|½/)
})

it('ROOM-4 a deck changed into itself puts nothing on record', async () => {
  const space = await world.space()
  const { deck } = await create(world.owner, space, { name: 'Same', cards: ['1', '2'] })
  const before = [await factsOf(space), await storedIn(space)]
  for (const same of [{}, { name: ' Same' }, { cards: ['1', ' 2 '] }, { ordinal: false }]) {
    expect(await update(world.owner, deck.id, same)).toMatchObject({ deck })
  }
  expect([await factsOf(space), await storedIn(space)]).toEqual(before)
})

it.each([
  ['numbers', ['0', '5', '13', '007', '0.5', '1.25']],
  ['fractions', ['1/3', '0/2', '6/4']],
  ['vulgar fractions, alone or after digits', ['½', '¼', '¾', '⅓', '⅔', '⅛', '12⅔']],
  ['special cards beside a number', ['1', '?', '☕', '∞']],
  ['special cards alone', ['?', '☕\ufe0f']],
])('ROOM-55, ROOM-56 takes %s', async (_name, cards) => {
  expect(await create(world.owner, await world.space(), { cards })).toMatchObject({ deck: { cards, ordinal: false } })
})

it.each([
  ['-1', 'a negative number'],
  ['-½', 'a negative fraction'],
  ['.5', 'decimals alone'],
  ['5.', 'a bare point'],
  ['1/0', 'a division by nothing'],
  ['1/-2', 'a negative divisor'],
  ['0.5/2', 'a fraction of a decimal'],
  ['1 ½', 'a space inside'],
  ['½1', 'digits behind'],
  ['⅕', 'another vulgar fraction'],
  ['1,5', 'a comma'],
  ['1e3', 'an exponent'],
  ['٣', 'digits of another script'],
  ['XL', 'letters'],
  ['??', 'two of a special card'],
  ['', 'nothing'],
  ['  ', 'blanks'],
  ['1'.padStart(17, '0'), '17 characters'],
])('ROOM-55, ROOM-56 refuses %j, %s, at its place', async (card) => {
  const space = await world.space()
  const { deck } = await create(world.owner, space)
  const before = await storedIn(space)
  for (const outcome of [
    await create(world.owner, space, { cards: ['1', '2', card] }),
    await update(world.owner, deck.id, { cards: ['1', '2', card] }),
  ]) {
    expect(outcome).toMatchObject({ code: 'INVALID_INPUT', issues: [{ path: ['input', 'cards', '2'] }] })
  }
  expect(await storedIn(space)).toEqual(before)
})

it('ROOM-55 wants 2 to 30 cards, distinct, and in numeric decks of distinct values', async () => {
  const space = await world.space()
  const many = (count: number) => Array.from({ length: count }, (_, at) => String(at))
  const issuesOf = async (deck: Cards) => (await create(world.owner, space, deck))['issues']
  expect(await issuesOf({ cards: many(2) })).toBeUndefined()
  expect(await issuesOf({ cards: many(30) })).toBeUndefined()
  for (const cards of [[], many(1), many(31)]) {
    expect(await issuesOf({ cards })).toMatchObject([{ path: ['input', 'cards'] }])
  }
  for (const [a, b] of [
    ['½', '1/2'],
    ['1/2', '0.5'],
    ['2', '2.0'],
    ['☕', '☕\ufe0f'],
    ['5', '5'],
  ] as const) {
    expect(await issuesOf({ cards: ['1', a, b] })).toMatchObject([{ path: ['input', 'cards', '2'] }])
  }
  // Ordinal decks have no values: any text, but none twice.
  expect(await issuesOf({ cards: ['½', '1/2', '0.5', 'XL', '-1'], ordinal: true })).toBeUndefined()
  expect(await issuesOf({ cards: ['S', 'M', 'S'], ordinal: true })).toMatchObject([{ path: ['input', 'cards', '2'] }])
  expect(await issuesOf({ cards: ['é', 'e\u0301'], ordinal: true })).toMatchObject([{ path: ['input', 'cards', '1'] }])
})

it('ROOM-55 an ordinal deck becomes a numeric one only with cards that have a value', async () => {
  const space = await world.space()
  const { deck } = await create(world.owner, space, { cards: ['S', '2'], ordinal: true })
  expect(await update(world.owner, deck.id, { ordinal: false })).toMatchObject({
    code: 'INVALID_INPUT',
    issues: [{ path: ['input', 'cards', '0'] }],
  })
  expect(await update(world.owner, deck.id, { ordinal: false, cards: ['1', '2'] })).toMatchObject({
    deck: { cards: ['1', '2'], ordinal: false },
  })
})

it('ROOM-57 a name is taken once a space, also when two come at once', async () => {
  const space = await world.space()
  const both = await Promise.all([1, 2].map(() => create(world.owner, space, { name: 'Twice' })))
  expect(both.map(({ code }) => code ?? 'ok').sort()).toEqual(['CONFLICT', 'ok'])
  const { deck } = await create(world.owner, space, { name: 'Other' })
  expect(await update(world.owner, deck.id, { name: 'Twice' })).toMatchObject({ code: 'CONFLICT' })
  expect(await create(world.owner, await world.space(), { name: 'Twice' })).toMatchObject({ deck: { name: 'Twice' } })
})

it('ROOM-57 a space has 50 decks at most, also when several come at once for the last places', async () => {
  const space = await world.space()
  await world.sql(
    `INSERT INTO rooms.decks (org_id, space_id, name, cards)
     SELECT $1, $2, 'Deck ' || n, '{1,2}' FROM generate_series(1, 48) AS n`,
    [space.orgId, space.uuid],
  )
  const asked = await Promise.all([1, 2, 3, 4, 5].map(() => create(world.owner, space)))
  expect(asked.map(({ code }) => code ?? 'ok').sort()).toEqual([...Array(3).fill('LIMIT_REACHED'), 'ok', 'ok'])
  expect(asked.find(({ code }) => code)).toMatchObject({ limit: 50 })
  const decks = await decksOf(world.owner, space)
  expect(decks).toHaveLength(50)
  await remove(world.owner, decks[0].id)
  expect(await create(world.owner, space)).toMatchObject({ __typename: 'DeckCreatePayload' })
})

it('ROOM-57 a room keeps its copy of the cards, whatever becomes of the deck', async () => {
  const space = await world.space()
  const { deck } = await create(world.owner, space, { name: 'Before', cards: ['1', '2', '3'] })
  const made = await world.owner.mutate(
    'roomCreate',
    { spaceId: space.id, kind: 'poker', title: 'Room', config: { poker: { deck: { id: deck.id } } } },
    'room { id }',
  )
  const config = async () =>
    (await world.owner.room(made['room'], 'config { ... on PokerConfig { deckName cards ordinal } }')).config
  const copy = { deckName: 'Before', cards: ['1', '2', '3'], ordinal: false }
  expect(await config()).toEqual(copy)
  await update(world.owner, deck.id, { name: 'After', cards: ['S', 'M'], ordinal: true })
  expect(await config()).toEqual(copy)
  await remove(world.owner, deck.id)
  expect(await config()).toEqual(copy)
})

it('ROOM-57 presets are there for everybody and nobody’s to change', async () => {
  const { deckPresets } = await world.owner.run('{ deckPresets { preset name cards ordinal } }')
  expect(deckPresets.map(({ preset }: { preset: string }) => preset)).toEqual([
    'FIBONACCI',
    'MODIFIED_FIBONACCI',
    'POWERS_OF_TWO',
    'T_SHIRT',
  ])
  const space = await world.space()
  for (const { name, cards, ordinal } of deckPresets) {
    expect(await create(world.owner, space, { name, cards, ordinal })).toMatchObject({ deck: { name, cards, ordinal } })
  }
})

it('ROOM-6, ROOM-22, ROOM-57 members may who are no viewers of the org; decks of elsewhere are not there', async () => {
  const space = await world.space()
  const { room } = await world.pokerRoom({ space })
  const member = await world.member({ space })
  const makers = [
    member,
    await world.member({ space, spectator: true }),
    await world.anonymous({ space }),
    await world.agent({ space }),
    await world.embedded(member),
  ]
  for (const maker of makers) {
    const made = await create(maker, space)
    expect(made).toMatchObject({ __typename: 'DeckCreatePayload' })
    expect(await update(maker, made['deck'].id, { cards: ['5', '8'] })).toMatchObject({ deck: { cards: ['5', '8'] } })
    expect(await remove(maker, made['deck'].id)).toMatchObject({ deckId: made['deck'].id })
  }

  const { deck } = await create(member, space)
  const before = [await factsOf(space), await storedIn(space)]
  const refused: [Actor, string][] = [
    [await world.viewer({ space }), 'FORBIDDEN'],
    [await world.embedded(await world.viewer({ space })), 'FORBIDDEN'],
    [await world.agent({ space, mode: 'read' }), 'FORBIDDEN'],
    [await world.agent({ space, scopes: ['rooms:read'] }), 'FORBIDDEN'],
    [await world.member({ space: null, role: 'admin' }), 'NOT_FOUND'],
    [await world.outsider(), 'NOT_FOUND'],
    [await world.otherOrg(), 'NOT_FOUND'],
    [await world.guest(room), 'NOT_FOUND'],
  ]
  for (const [person, code] of refused) {
    expect(await create(person, space)).toMatchObject({ code })
    expect(await update(person, deck.id, { name: 'Theirs' })).toMatchObject({ code })
    expect(await remove(person, deck.id)).toMatchObject({ code })
  }
  // A deck of another space of the org, or of another org, or of nowhere.
  const outsider = await world.outsider()
  const stranger = await world.otherOrg()
  const ids = [
    (await create(outsider, outsider.space))['deck'].id,
    (await create(stranger, stranger.space))['deck'].id,
    encodeId('Deck', newId()),
  ]
  for (const id of ids) {
    expect(await update(member, id, { name: 'Mine' })).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'id'] })
    expect(await remove(member, id)).toMatchObject({ code: 'NOT_FOUND', path: ['input', 'id'] })
  }
  expect([await factsOf(space), await storedIn(space)]).toEqual(before)
})

it('ROOM-6 decks are read by the members of the space alone', async () => {
  const space = await world.space()
  const { room } = await world.pokerRoom({ space })
  const { deck } = await create(world.owner, space)
  const read = async (person: Actor) => ({
    node: (await person.run('query ($id: ID!) { node(id: $id) { id } }', { id: deck.id })).node,
    decks: (await decksOf(person, space))?.length ?? 0,
  })
  expect(await read(await world.viewer({ space }))).toEqual({ node: { id: deck.id }, decks: 1 })
  for (const person of [
    await world.member({ space: null, role: 'admin' }),
    await world.outsider(),
    await world.otherOrg(),
    await world.guest(room),
  ]) {
    expect(await read(person)).toEqual({ node: null, decks: 0 })
  }
})
