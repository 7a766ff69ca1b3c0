import { getOperationAST, parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { fingerprintOf } from '../../src/platform/idempotency/fingerprint.ts'
import { treatsItsRetries } from '../../src/platform/idempotency/own-retries.ts'

const print = (text: string, variables?: unknown, operationName?: string) =>
  fingerprintOf({ document: parse(text), operationName, variables }).toString('hex')

describe('what makes two requests the same', () => {
  const document = 'mutation A($x: Int) { a(x: $x, text: "é") { b } }'
  const first = print(document, { x: 1, nested: { b: [1, 2], a: 'ä' } })

  it.each([
    ['blanks, commas and comments', `# c\nmutation A ( $x : Int , ) { a ( x : $x text : "é" ) { b, } }`, undefined],
    ['the order of variables', document, { nested: { a: 'ä', b: [1, 2] }, x: 1 }],
    ['how a number is spelled', document, JSON.parse('{"x":1.0,"nested":{"b":[1e0,2],"a":"\\u00e4"}}')],
  ])('PLAT-50 is not %s', (_, text, variables) => {
    expect(print(text, variables ?? { x: 1, nested: { b: [1, 2], a: 'ä' } })).toBe(first)
  })

  it.each([
    ['a variable', document, { x: 2, nested: { b: [1, 2], a: 'ä' } }],
    ['the order in a list', document, { x: 1, nested: { b: [2, 1], a: 'ä' } }],
    ['text for a number', document, { x: '1', nested: { b: [1, 2], a: 'ä' } }],
    ['one variable more', document, { x: 1, nested: { b: [1, 2], a: 'ä' }, y: null }],
    ['the selection', document.replace('{ b }', '{ c }'), undefined],
    ['a literal', document.replace('é', 'e'), undefined],
    ['an alias', document.replace('a(', 'z: a('), undefined],
  ])('PLAT-50 is %s', (_, text, variables) => {
    expect(print(text, variables ?? { x: 1, nested: { b: [1, 2], a: 'ä' } })).not.toBe(first)
  })

  it('PLAT-50 is the name of the operation; none and no variables are one thing each', () => {
    const two = 'mutation A { a } mutation B { a }'
    expect(print(two, {}, 'A')).not.toBe(print(two, {}, 'B'))
    expect(print('mutation { a }')).toBe(print('mutation { a }', {}))
    expect(print('mutation { a }', null)).toBe(print('mutation { a }', {}))
    // No part can be taken for the beginning of the next.
    expect(print('mutation { a }', { x: '"]' })).not.toBe(print('mutation { a }', { x: '' }))
  })
})

describe('documents of the gate', () => {
  const treats = (text: string) => {
    const document = parse(text)
    return treatsItsRetries(document, getOperationAST(document)!)
  }

  it.each(['actionSubmit', 'actionBegin', 'actionReportResult', 'actionCancel'])(
    'PLAT-49 leaves the retries of %s to the gate',
    (field) => {
      expect(treats(`mutation { ${field}(input: {}) { __typename } }`)).toBe(true)
      expect(treats(`mutation { mine: ${field}(input: {}) { __typename } }`)).toBe(true)
      expect(treats(`mutation { ...f } fragment f on Mutation { ... { ${field}(input: {}) { __typename } } }`)).toBe(
        true,
      )
    },
  )

  it.each([
    'mutation { actionSubmit { a } ticketCreate { a } }',
    'mutation { a: actionSubmit { a } b: actionSubmit { a } }',
    'mutation { actionSubmit { a } ...f } fragment f on Mutation { ticketCreate { a } }',
    'mutation { ...f ...g } fragment f on Mutation { actionCancel { a } } fragment g on Mutation { x: ticketCreate { a } }',
    'mutation { actionSubmit { a } ... @include(if: false) { ticketCreate { a } } }',
    'mutation { __typename actionBegin { a } }',
  ])('PLAT-49 refuses %s under a key', (text) => {
    expect(() => treats(text)).toThrow(
      expect.objectContaining({ extensions: expect.objectContaining({ code: 'BAD_REQUEST' }) }),
    )
  })

  it.each([
    'mutation { ticketCreate { actionSubmit } roomEnd { a } }',
    'mutation { actionSubmit: ticketCreate { a } roomEnd { a } }',
    'mutation { ...f } fragment f on Mutation { ...g } fragment g on Mutation { roomEnd { a } ...f }',
  ])('PLAT-49 treats %s itself', (text) => {
    expect(treats(text)).toBe(false)
  })
})
