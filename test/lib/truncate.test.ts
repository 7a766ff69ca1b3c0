import { describe, expect, it } from 'vitest'
import type { Json } from '../../src/lib/redact.ts'
import { truncate, truncateText } from '../../src/lib/truncate.ts'

const bytes = (value: Json) => Buffer.byteLength(JSON.stringify(value))

describe('truncating', () => {
  it('PLAT-24 leaves what fits 4 KiB to the byte', () => {
    const value = { a: 'x'.repeat(4096 - 8) }
    expect(bytes(value)).toBe(4096)
    expect(truncate(value)).toEqual(value)
    expect(truncate({ a: `${value.a}x` })).toEqual({ a: `${'x'.repeat(256)}<truncated>` })
  })

  it('PLAT-24 cuts the longest strings first, and none that need not be cut', () => {
    const value = { a: 'a'.repeat(600), b: ['b'.repeat(5000)], c: 'c'.repeat(700) }
    expect(truncate(value)).toEqual({ ...value, b: [`${'b'.repeat(256)}<truncated>`] })
  })

  it('PLAT-24 counts bytes of UTF-8 and cuts between code points', () => {
    const edge = { a: 'é'.repeat(2044) }
    expect(bytes(edge)).toBe(4096)
    expect(truncate(edge)).toEqual(edge)
    for (const lead of ['', 'x', 'xy', 'xyz']) {
      const cut = truncate({ a: lead + '😀'.repeat(1500) }) as { a: string }
      expect(cut.a).toBe(`${lead}${'😀'.repeat(256 - lead.length)}<truncated>`)
      expect(cut.a.isWellFormed()).toBe(true)
    }
  })

  it('PLAT-24 drops trailing members and marks each container that lost some', () => {
    const value = { first: 1, list: Array.from({ length: 2000 }, (_, i) => i), last: 2 }
    const cut = truncate(value) as { list: Json[] }
    expect(Object.keys(cut)).toEqual(['first', 'list', '<truncated>'])
    expect(cut).toMatchObject({ first: 1, '<truncated>': true })
    expect(cut.list.at(-1)).toBe('<truncated>')
    expect(cut.list.slice(0, -1)).toEqual(value.list.slice(0, cut.list.length - 1))
    expect(bytes(cut)).toBeLessThanOrEqual(4096)
    expect(bytes(cut)).toBeGreaterThan(4000)
  })

  it('PLAT-24 is never over the bound and always JSON, whatever the shape', () => {
    const shapes: Json[] = [
      'x'.repeat(10_000),
      '\u0001'.repeat(10_000),
      '😀'.repeat(10_000),
      Array(3000).fill('é'),
      { ['k'.repeat(5000)]: 1, b: 2 },
      { a: 1, ['k'.repeat(5000)]: 1 },
      Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`key${i}`, i])),
      Array.from({ length: 60 }, () => ({ text: 'é'.repeat(300), more: ['y'.repeat(300)] })),
      { a: { b: { c: { d: Array(2000).fill({ e: 'f' }) } } } },
      { '<truncated>': 'x'.repeat(300), list: Array(2000).fill(1) },
    ]
    for (const shape of shapes) {
      for (const bound of [32, 33, 50, 100, 255, 1000, 4095, 4096, 20_000]) {
        const cut = truncate(shape, bound)
        expect(bytes(cut)).toBeLessThanOrEqual(bound)
        expect(JSON.parse(JSON.stringify(cut))).toEqual(cut)
        if (bytes(shape) > bound) expect(JSON.stringify(cut)).toContain('<truncated>')
        else expect(cut).toEqual(shape)
      }
    }
  })

  it('PLAT-24 replaces what lies deeper than 20 levels', () => {
    const nest = (levels: number): Json => (levels === 0 ? 'leaf' : { a: nest(levels - 1) })
    expect(truncate(nest(20))).toEqual(nest(20))
    expect(truncate(nest(40))).toEqual(JSON.parse(JSON.stringify(nest(20)).replace('leaf', '<truncated>')))
  })

  it('PLAT-24 cuts text at any bound without splitting a code point', () => {
    const text = 'aé€😀'.repeat(1000)
    for (let bound = 20; bound < 40; bound++) {
      const cut = truncateText(text, bound)
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bound)
      expect(Buffer.byteLength(cut)).toBeGreaterThan(bound - 4)
      expect(cut.endsWith('<truncated>')).toBe(true)
      expect(text.startsWith(cut.slice(0, -11))).toBe(true)
    }
    expect(truncateText('short', 5)).toBe('short')
  })
})
