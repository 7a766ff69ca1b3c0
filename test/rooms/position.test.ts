import { describe, expect, it } from 'vitest'
import { appendedPosition, type Placed, planMove, positionBetween } from '../../src/rooms/story/position.ts'

const room = (...positions: number[]): Placed[] =>
  positions.map((position, i) => ({ id: 'abcdef'.charAt(i), position }))

describe('positions of stories', () => {
  it('ROOM-59 appends 1024 after the last one', () => {
    expect(appendedPosition(null)).toBe(1024)
    expect(appendedPosition(3000.5)).toBe(4024.5)
  })

  it('ROOM-59 takes the midpoint between two neighbours, 1024 beyond an end', () => {
    const stories = room(1024, 2048, 3072)
    expect(planMove(stories, 'c', 'a')).toEqual({ position: 1536 })
    expect(planMove(stories, 'c', null)).toEqual({ position: 0 })
    expect(planMove(stories, 'a', 'c')).toEqual({ position: 4096 })
    expect(planMove(stories, 'a', 'b')).toEqual({ position: 2560 })
    expect(planMove(room(-5000, 10), 'b', null)).toEqual({ position: -6024 })
  })

  it('ROOM-59 moves nothing that stands there already', () => {
    const stories = room(1024, 2048, 3072)
    for (const [story, after] of [
      ['a', null],
      ['b', 'a'],
      ['c', 'b'],
      ['b', 'b'],
    ] as const) {
      expect(planMove(stories, story, after)).toBeNull()
    }
    expect(planMove(room(1), 'a', null)).toBeNull()
  })

  it('ROOM-59 numbers all anew when the gap is below 1e-6, the order kept', () => {
    const positions = (ids: string) => [...ids].map((id, i) => ({ id, position: (i + 1) * 1024 }))
    expect(planMove(room(1, 1 + 9e-7, 5), 'c', 'a')).toEqual({ positions: positions('acb') })
    expect(planMove(room(1, 1, 5), 'c', 'a')).toEqual({ positions: positions('acb') })
    expect(planMove(room(1, 1 + 2e-6, 5), 'c', 'a')).toHaveProperty('position')
  })

  it('ROOM-59 numbers all anew when the midpoint equals a neighbour', () => {
    expect(positionBetween(2 ** 60, 2 ** 60 + 256)).toBeNull()
    expect(positionBetween(1e300, null)).toBeNull()
    expect(positionBetween(null, -1e300)).toBeNull()
    expect(positionBetween(-Number.MAX_VALUE, Number.MAX_VALUE)).toBeNull()
  })

  it('ROOM-59 keeps the order through any number of moves to one place', () => {
    let stories = room(1024, 2048, 3072, 4096)
    let renumbered = 0
    for (let i = 0; i < 200; i++) {
      const [first, , , last] = stories as [Placed, Placed, Placed, Placed]
      const wanted = [first.id, last.id, stories[1]!.id, stories[2]!.id]
      const move = planMove(stories, last.id, first.id)!
      if ('positions' in move) {
        stories = move.positions
        renumbered++
      } else {
        stories = stories.map((story) => (story.id === last.id ? { ...story, position: move.position } : story))
      }
      stories = stories.toSorted((a, b) => a.position - b.position)
      expect(stories.map(({ id }) => id)).toEqual(wanted)
    }
    expect(renumbered).toBeGreaterThan(0)
  })

  it('ROOM-59 refuses stories that are not in the room', () => {
    expect(() => planMove(room(1, 2), 'x', null)).toThrow(RangeError)
    expect(() => planMove(room(1, 2), 'a', 'x')).toThrow(RangeError)
  })
})
