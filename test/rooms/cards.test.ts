import { describe, expect, it } from 'vitest'
import { compare, fraction } from '../../src/lib/fraction.ts'
import { checkCards, parseCard, specialCard } from '../../src/rooms/poker/cards.ts'

describe('the value of a card', () => {
  it.each([
    ['0', 0, 1],
    ['5', 5, 1],
    ['007', 7, 1],
    ['9999999999999999', 9999999999999999n, 1],
    ['0.5', 1, 2],
    ['1.50', 3, 2],
    ['0.1', 1, 10],
    ['1/2', 1, 2],
    ['6/4', 3, 2],
    ['0/3', 0, 1],
    ['½', 1, 2],
    ['¼', 1, 4],
    ['¾', 3, 4],
    ['⅓', 1, 3],
    ['⅔', 2, 3],
    ['⅛', 1, 8],
    ['1½', 3, 2],
    ['12⅔', 38, 3],
  ])('ROOM-56 reads %s exactly', (card, numerator, denominator) => {
    expect(compare(parseCard(card)!, fraction(numerator, denominator))).toBe(0)
  })

  it.each([
    '',
    '-1',
    '-½',
    '+1',
    '.5',
    '5.',
    '.',
    '1.2.3',
    '1/0',
    '1/',
    '/2',
    '1/2/3',
    '1/-2',
    '0.5/2',
    '1 1/2',
    '1 ½',
    '½1',
    '½½',
    '1.5½',
    '⅕',
    '1e3',
    '0x10',
    '1,5',
    '٣',
    '１',
    'XL',
    '?',
    '☕',
    '∞',
    ' 5',
    '5\n',
  ])('ROOM-56 gives %j no value', (card) => {
    expect(parseCard(card)).toBeNull()
  })

  it('ROOM-56 knows the special cards, the cup with and without U+FE0F', () => {
    expect(['?', '☕', '☕\ufe0f', '∞'].map(specialCard)).toEqual(['?', '☕', '☕', '∞'])
    expect(['', '5', '??', '?\ufe0f', '☕☕', 'coffee'].map(specialCard)).toEqual(Array(6).fill(null))
  })
})

describe('the cards of a deck', () => {
  const faults = (cards: string[], ordinal = false) => checkCards({ cards, ordinal }).map(({ index }) => index)

  it('ROOM-55 accepts numbers, fractions and special cards, in any order', () => {
    expect(checkCards({ cards: ['0', '½', '1', '2', '3', '5', '8', '?', '☕', '∞'], ordinal: false })).toEqual([])
    expect(checkCards({ cards: ['8', '1/3', '0.25', '?'], ordinal: false })).toEqual([])
    expect(checkCards({ cards: ['XS', 'S', 'M', '1/2', '0.5', '?'], ordinal: true })).toEqual([])
  })

  it('ROOM-55 wants 2 to 30 cards', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => String(i))
    expect(faults([])).toEqual([null])
    expect(faults(['1'])).toEqual([null])
    expect(faults(many(2))).toEqual([])
    expect(faults(many(30))).toEqual([])
    expect(faults(many(31))).toEqual([null])
    expect(faults(Array(100_000).fill('bad'))).toEqual([null])
  })

  it('ROOM-55 wants cards of 1 to 16 characters', () => {
    expect(faults(['', '😀'.repeat(16), '😀'.repeat(17)], true)).toEqual([0, 2])
    expect(faults(['1', '1'.padStart(17, '0')])).toEqual([1])
  })

  it('ROOM-55 names every card of a numeric deck that does not parse', () => {
    expect(faults(['1', 'XL', '2', '-3', '1/0'])).toEqual([1, 3, 4])
  })

  it('ROOM-55 wants distinct cards, special ones too', () => {
    expect(faults(['S', 'M', 'S', 'M'], true)).toEqual([2, 3])
    expect(faults(['1', '?', '?'])).toEqual([2])
    expect(faults(['1', '☕', '☕\ufe0f'])).toEqual([2])
  })

  it.each([
    ['½', '1/2'],
    ['1/2', '0.5'],
    ['1½', '1.5'],
    ['3/2', '1½'],
    ['⅓', '2/6'],
    ['5', '05'],
    ['2', '2.0'],
  ])('ROOM-55 takes %s and %s for one value in a numeric deck', (a, b) => {
    expect(checkCards({ cards: [a, b], ordinal: false })).toEqual([
      { index: 1, message: 'has the value of another card' },
    ])
    expect(checkCards({ cards: [a, b], ordinal: true })).toEqual([])
  })

  it('ROOM-56 compares exactly: a third is not 0.33333333333333', () => {
    expect(faults(['⅓', '0.33333333333333'])).toEqual([])
  })
})
