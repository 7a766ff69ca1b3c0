import { describe, expect, it } from 'vitest'
import { roundResult } from '../../src/rooms/poker/result.ts'

const FIBONACCI = { cards: ['?', '0', '1/2', '1', '2', '3', '5', '8', '13', '☕', '∞'], ordinal: false }
const SHIRTS = { cards: ['XS', 'S', 'M', 'L', 'XL', '?', '☕'], ordinal: true }
const THIRDS = { cards: ['0', '⅓', '⅔', '1'], ordinal: false }

describe('the result of a round', () => {
  it('ROOM-74 counts, averages and suggests', () => {
    expect(roundResult(FIBONACCI, ['3', '5', '5', '8', '?', '☕'])).toEqual({
      distribution: [
        { card: '0', count: 0 },
        { card: '1/2', count: 0 },
        { card: '1', count: 0 },
        { card: '2', count: 0 },
        { card: '3', count: 1 },
        { card: '5', count: 2 },
        { card: '8', count: 1 },
        { card: '13', count: 0 },
        { card: '?', count: 1 },
        { card: '☕', count: 1 },
        { card: '∞', count: 0 },
      ],
      counted: 4,
      average: 5.25,
      mode: ['5'],
      min: '3',
      max: '8',
      consensus: false,
      suggested: '5',
    })
  })

  it.each([[[]], [['?', '☕', '∞']]])('ROOM-74 has nothing to say when none is counted: %j', (votes) => {
    for (const deck of [FIBONACCI, { ...SHIRTS, cards: [...SHIRTS.cards, '∞'] }]) {
      const { distribution, ...result } = roundResult(deck, votes)
      expect(distribution.reduce((sum, { count }) => sum + count, 0)).toBe(votes.length)
      expect(result).toEqual({
        counted: 0,
        average: null,
        mode: [],
        min: null,
        max: null,
        consensus: false,
        suggested: null,
      })
    }
  })

  it('ROOM-74 agrees with one voter', () => {
    expect(roundResult(FIBONACCI, ['1/2'])).toMatchObject({
      counted: 1,
      average: 0.5,
      mode: ['1/2'],
      min: '1/2',
      max: '1/2',
      consensus: true,
      suggested: '1/2',
    })
  })

  it.each([
    [['1/2', '1', '2'], 1.17], // 1.1666…
    [['1/2', '1/2', '1/2', '1'], 0.63], // 0.625: half up
    [['0', '0', '1'], 0.33],
    [['1', '1', '0'], 0.67],
    [['0', '1/2', '0', '0', '0', '0', '0', '0', '0', '0'], 0.05],
    [[...Array(99).fill('0'), '1/2'], 0.01], // 0.005: half up
    [[...Array(100).fill('0'), '1/2'], 0],
  ])('ROOM-74 rounds the average of %j half up to %d', (votes, average) => {
    expect(roundResult(FIBONACCI, votes).average).toBe(average)
  })

  it.each(['1/2', '½', '0.5', '2/4', '0.50'])('ROOM-56, ROOM-74 takes %s for one half', (half) => {
    const deck = { cards: ['0', half, '1', '☕', '?'], ordinal: false }
    expect(roundResult(deck, [half, '1', '☕'])).toMatchObject({
      counted: 2,
      average: 0.75,
      mode: [half, '1'],
      min: half,
      max: '1',
      consensus: false,
      suggested: '1', // in the middle of both: upward
    })
    expect(roundResult(deck, [half])).toMatchObject({ average: 0.5, consensus: true, suggested: half })
    expect(roundResult(deck, ['0', half]).suggested).toBe(half)
    expect(roundResult(deck, [half, half, '?'])).toMatchObject({ counted: 2, average: 0.5, consensus: false })
  })

  it('ROOM-74 suggests nothing that is special, and nothing when nobody’s vote counts', () => {
    const deck = { cards: ['?', '☕\ufe0f', '∞', '1', '100'], ordinal: false }
    expect(roundResult(deck, ['1', '∞', '∞', '∞'])).toMatchObject({ counted: 1, suggested: '1', mode: ['1'], max: '1' })
    expect(roundResult(deck, ['☕\ufe0f', '1'])).toMatchObject({ counted: 1, consensus: true })
    const special = { cards: ['?', '☕'], ordinal: false }
    expect(roundResult(special, ['?', '☕'])).toMatchObject({ counted: 0, average: null, suggested: null, mode: [] })
    const ordinal = { cards: ['S', 'M', '?'], ordinal: true }
    expect(roundResult(ordinal, ['?', '?', 'M'])).toMatchObject({ mode: ['M'], suggested: 'M', consensus: false })
  })

  it('ROOM-74 averages exact values: three thirds are one', () => {
    expect(roundResult(THIRDS, ['⅓', '⅔', '0', '1', '⅓', '⅔']).average).toBe(0.5)
    expect(roundResult({ cards: ['1.005', '2'], ordinal: false }, ['1.005']).average).toBe(1.01)
    expect(roundResult({ cards: ['0.1', '0.2', '0.3'], ordinal: false }, ['0.1', '0.2', '0.3']).suggested).toBe('0.2')
  })

  it('ROOM-74 suggests the nearest card of the deck, upward on a tie, whatever its order', () => {
    expect(roundResult(FIBONACCI, ['3', '8']).suggested).toBe('5') // 5.5
    expect(roundResult(FIBONACCI, ['3', '5']).suggested).toBe('5') // 4 lies between 3 and 5
    expect(roundResult(FIBONACCI, ['0', '1/2']).suggested).toBe('1/2')
    expect(roundResult({ cards: ['5', '?', '3', '1'], ordinal: false }, ['5', '3']).suggested).toBe('5')
    expect(roundResult(THIRDS, ['⅓', '⅔', '⅓', '⅔']).suggested).toBe('⅔')
    expect(roundResult(FIBONACCI, [...Array(201).fill('1'), ...Array(199).fill('2')]).suggested).toBe('1') // 1.4975
  })

  it('ROOM-74 lists all tied modes in deck order', () => {
    expect(roundResult(FIBONACCI, ['8', '3', '8', '3', '1', '?', '?', '?']).mode).toEqual(['3', '8'])
    expect(roundResult(SHIRTS, ['XL', 'S', 'M']).mode).toEqual(['S', 'M', 'XL'])
  })

  it('ROOM-74 takes min and max by value, in ordinal decks by deck order', () => {
    const shuffled = { cards: ['8', '½', '10', '2'], ordinal: false }
    expect(roundResult(shuffled, ['10', '2', '½', '8'])).toMatchObject({ min: '½', max: '10' })
    expect(roundResult(SHIRTS, ['L', 'XS', 'S'])).toMatchObject({ min: 'XS', max: 'L' })
  })

  it('ROOM-74 has no arithmetic in ordinal decks, even of numbers', () => {
    expect(roundResult(SHIRTS, ['M', 'M', 'L'])).toMatchObject({ counted: 3, average: null, suggested: 'M' })
    expect(roundResult(SHIRTS, ['M', 'L'])).toMatchObject({ average: null, suggested: null })
    expect(roundResult({ cards: ['3', '1', '2'], ordinal: true }, ['1', '2'])).toMatchObject({
      average: null,
      min: '1',
      max: '2',
    })
  })

  it.each([
    [['5', '5'], true],
    [['5', '5', '☕'], true],
    [['5', '5', '?'], false],
    [['5', '8'], false],
    [['?'], false],
    [['☕'], false],
  ])('ROOM-74 calls %j consensus: %s', (votes, consensus) => {
    expect(roundResult(FIBONACCI, votes).consensus).toBe(consensus)
  })
})
