import { getNamedType, getNullableType, isListType, isNonNullType, isObjectType } from 'graphql'
import { expect, it } from 'vitest'
import { SCHEMA } from './schema-walk.ts'

const fields = Object.values(SCHEMA.getTypeMap())
  .filter(isObjectType)
  .flatMap((type) => Object.values(type.getFields()).map((field) => ({ name: `${type.name}.${field.name}`, field })))

it('ID-9 every field that leads to a person may be null, so that one who is gone takes nothing else along', () => {
  const leading = fields.filter(({ field: { type } }) => getNamedType(type).name === 'User')
  expect(leading.length).toBeGreaterThan(10)
  // Of a list the people who are gone are left out.
  const demanding = leading.filter(({ field: { type } }) => isNonNullType(type) && !isListType(getNullableType(type)))
  expect(demanding.map(({ name }) => name)).toEqual([])
})

it('ID-10 no field tells a hash, a password or what somebody is known by elsewhere', () => {
  const telling = fields.filter(({ field }) => /hash$|password|^issuer$|^subject$/i.test(field.name))
  expect(telling.map(({ name }) => name).filter((name) => !name.startsWith('Mutation.'))).toEqual([])
  const origin = fields.filter(({ field }) => /^(ip|userAgent)$/.test(field.name)).map(({ name }) => name)
  expect(origin).toEqual(['Session.ip', 'Session.userAgent'])
  expect(fields.filter(({ field }) => field.name === 'notificationSounds').map(({ name }) => name)).toEqual([
    'Viewer.notificationSounds',
  ])
})
