import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineEvent, eventType, eventTypesMatching } from '../../src/platform/audit/registry.ts'

const payload = z.strictObject({})

it('PLAT-12 registers a type once', () => {
  const type = defineEvent('well.dug', { category: 'activity', payload })
  expect(eventType('well.dug')).toBe(type)
  expect(() => defineEvent('well.dug', { category: 'activity', payload })).toThrow('defined twice')
})

it.each(['well', 'Well.dug', 'well.', 'well.dug!', 'well.dug2', `well.${'x'.repeat(100)}`])(
  'PLAT-12 takes no name that the table refuses: %s',
  (name) => {
    expect(() => defineEvent(name, { category: 'activity', payload })).toThrow('no name')
  },
)

it('PLAT-20 finds types by name and by wildcard', () => {
  defineEvent('barn.raised', { category: 'activity', payload })
  defineEvent('barn.door.opened', { category: 'activity', payload })
  defineEvent('barnyard.swept', { category: 'activity', payload })
  const names = (pattern: string) => eventTypesMatching(pattern).map(({ name }) => name)
  expect(names('barn.raised')).toEqual(['barn.raised'])
  expect(names('barn.*')).toEqual(['barn.door.opened', 'barn.raised'])
  expect(names('barn.door.*')).toEqual(['barn.door.opened'])
  for (const unknown of ['barn', 'barn.lost', '*', '.*', 'barn*', 'ba.*']) expect(names(unknown)).toEqual([])
})
