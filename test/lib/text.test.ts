import { describe, expect, it } from 'vitest'
import { cleanText, codePointLength, displayNameFault, firstCodePoints, isWellFormedText } from '../../src/lib/text.ts'

describe('text', () => {
  it.each([
    ['a NUL', 'a\0b'],
    ['a lone high surrogate', 'a\ud83d'],
    ['a lone low surrogate', '\ude00a'],
    ['surrogates the wrong way round', '\ude00\ud83d'],
  ])('PLAT-59 refuses text with %s', (_, text) => {
    expect(isWellFormedText(text)).toBe(false)
  })

  it('PLAT-59 accepts any other text', () => {
    for (const text of ['', 'plain', 'tab\tline\n', 'Zoë 😀', '\ufffd', '\u0001'])
      expect(isWellFormedText(text)).toBe(true)
  })

  it('ROOM-7 composes and trims', () => {
    expect(cleanText(' \t\u00a0Zoe\u0308\u3000\n')).toBe('Zo\u00eb')
    expect(cleanText(' \n ')).toBe('')
  })

  it('ROOM-7 counts code points, as the CHECKs do', () => {
    const lengths: [string, number][] = [
      ['', 0],
      ['abc', 3],
      ['😀', 1],
      ['a😀b😀', 4],
      ['e\u0308', 2],
      ['👩‍👩‍👧', 5],
    ]
    for (const [text, length] of lengths) {
      expect(codePointLength(text)).toBe(length)
      expect([...text]).toHaveLength(length)
    }
  })

  it('PLAT-24 cuts between code points, never inside one', () => {
    expect(firstCodePoints('a😀b', 0)).toBe('')
    expect(firstCodePoints('a😀b', 1)).toBe('a')
    expect(firstCodePoints('a😀b', 2)).toBe('a😀')
    expect(firstCodePoints('a😀b', 3)).toBe('a😀b')
    expect(firstCodePoints('😀😀😀😀', 3)).toBe('😀😀😀')
  })
})

describe('display names', () => {
  it('ID-11 accepts 1 to 64 characters of any script', () => {
    for (const name of ['A', 'Zoë O’Neill', '李小龙', 'أحمد', '👩‍👩‍👧', '😀'.repeat(64)])
      expect(displayNameFault(name)).toBeNull()
  })

  it.each([
    ['nothing', ''],
    ['65 characters', '😀'.repeat(65)],
    ['a line break', 'a\nb'],
    ['a C1 control', 'a\u0085b'],
    ['a delete', 'a\u007fb'],
    ['a line separator', 'a\u2028b'],
    ['a NUL', 'a\0b'],
    ['a lone surrogate', 'a\ud800'],
    ['an embedding', 'a\u202ab'],
    ['an override', 'a\u202eb'],
    ['an isolate', 'a\u2066b'],
    ['the end of an isolate', 'a\u2069b'],
  ])('ID-11 refuses %s', (_, name) => {
    const fault = displayNameFault(name)
    expect(fault).toBeTypeOf('string')
    if (name !== '') expect(fault).not.toContain(name)
  })
})
