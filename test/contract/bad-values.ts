import { getNamedType, getNullableType, isEnumType, isInputObjectType, isListType, isNonNullType } from 'graphql'
import { v4, v7 } from 'uuid'
import { encodeId } from '../../src/graphql/ids.ts'
import type { Slot } from './schema-walk.ts'

/** A value that does not belong in a slot. */
export type Bad = {
  readonly kind: string
  readonly value: unknown
  /** GraphQL itself refuses it, and with it the whole document. */
  readonly byType?: true
}

/** Stands in every text that is refused, so that an echo of it is found. */
export const PLANTED = 'zqbad'
const NUL = '\u0000'

const byType = (kinds: Record<string, unknown>): Bad[] =>
  Object.entries(kinds).map(([kind, value]) => ({ kind, value, byType: true }))
const byRule = (kinds: Record<string, unknown>): Bad[] =>
  Object.entries(kinds).map(([kind, value]) => ({ kind, value }))

const TEXT = byRule({
  NUL: `${PLANTED}${NUL}`,
  'lone high surrogate': `${PLANTED}\ud83d`,
  'lone low surrogate': `${PLANTED}\ude00 x`,
  '10 KB': PLANTED.repeat(2_048),
  empty: '',
  blank: ' \t\u00a0 ',
})
const NO_TEXT = byType({ 'a number': 5, 'a boolean': true, 'an object': { zqbad: 1 }, 'a list': [PLANTED] })
const NAMES = byRule({
  'a control character': `${PLANTED}\u0007`,
  'a line break': `${PLANTED}\n${PLANTED}`,
  'a line separator': `${PLANTED}\u2028${PLANTED}`,
  'an override of direction': `${PLANTED}\u202e`,
  'an isolate': `\u2066${PLANTED}`,
})
const CURSORS = byRule(
  Object.fromEntries(
    [
      {},
      [],
      null,
      [PLANTED],
      [PLANTED, v7(), PLANTED],
      [1, 2],
      [null, null],
      [['x'], v7()],
      [{ not: 1 }, v7()],
      ['2026-02-30T00:00:00Z', v7()],
      ['2026-01-01T00:00:00Z', `' OR 1=1 --`],
      [`'; DROP TABLE rooms.spaces; --`, `${v7()}'`],
      [`${PLANTED}${NUL}`, v7()],
      [1e308, Number.MAX_SAFE_INTEGER],
    ].map((values) => [`a cursor of ${JSON.stringify(values)}`, forged(JSON.stringify(values))]),
  ),
).concat(
  byRule({
    'a cursor of a position': forged(`1.${'9'.repeat(19)}.${v7()}`),
    'a cursor of no position': forged(`1.1.${v7()} OR 1=1`),
    'a cursor that is no base64': `${PLANTED}%%%`,
  }),
)

function forged(text: string): string {
  return Buffer.from(text).toString('base64url')
}

const ofScalar: Record<string, (slot: Slot) => Bad[]> = {
  ID: () => [...ids(), ...byType({ 'a fraction': 1.5, 'a boolean': true, 'an object': {}, 'a list': [['x']] })],
  String: ({ declared }) => [
    ...TEXT,
    ...NO_TEXT,
    ...(/\.displayName$|^OrgCreateInput\.name$/.test(declared) ? NAMES : []),
    ...(/\.(after|before)$/.test(declared) ? CURSORS : []),
  ],
  Int: () => [
    ...byRule({ negative: -1, zero: 0, huge: 2 ** 31 - 1 }),
    ...byType({ 'past 32 bits': 2 ** 31, 'a fraction': 1.5, 'a text': '5', 'a boolean': true, 'an object': {} }),
  ],
  BigInt: () =>
    byType({
      'past 64 bits': '9223372036854775808',
      'past -64 bits': '-9223372036854775809',
      'a number past 2^53': 2 ** 60,
      'a fraction': 1.5,
      'no number': PLANTED,
      empty: '',
      hexadecimal: '0x10',
      'a boolean': true,
      'an object': {},
    }),
  Boolean: () => byType({ 'a text': 'true', 'a number': 1, 'an object': {}, 'a list': [[true]] }),
  JSON: () =>
    byRule({
      NUL: { zqbad: `${PLANTED}${NUL}` },
      'NUL in a name': { [`${PLANTED}${NUL}`]: 1 },
      'lone surrogate': { zqbad: [`${PLANTED}\ud83d`] },
      'too deep': JSON.parse(`${'{"zqbad":'.repeat(1_000)}1${'}'.repeat(1_000)}`),
      '100 KB': { zqbad: PLANTED.repeat(20_480) },
      'a text': PLANTED,
      'a number': 5,
      'a boolean': true,
    }),
  UUID: () =>
    byType({
      'in capitals': v7().toUpperCase(),
      truncated: v7().slice(0, -1),
      'no UUID': PLANTED,
      empty: '',
      'a global id': encodeId('Room', v7()),
      NUL: `${v7()}${NUL}`,
      'a number': 5,
      'an object': {},
    }),
  Date: () =>
    byType({
      'no day': PLANTED,
      'a day that is none': '2026-02-30',
      'an instant': '2026-01-01T00:00:00Z',
      'the year 0': '0000-01-01',
      'no zeros': '2026-1-1',
      'a number': 20_260_101,
      empty: '',
      NUL: `2026-01-01${NUL}`,
      'an object': {},
    }),
  DateTime: () =>
    byType({
      'no instant': PLANTED,
      'a day that is none': '2026-02-30T00:00:00Z',
      'no zone': '2026-01-01T00:00:00',
      'the year 0': '0000-01-01T00:00:00Z',
      nanoseconds: '2026-01-01T00:00:00.123456789Z',
      'a number': 1_767_225_600,
      empty: '',
      NUL: `2026-01-01T00:00:00Z${NUL}`,
      'an object': {},
    }),
}

function ids(): Bad[] {
  const id = encodeId('Room', v7())
  const suffix = id.slice(4)
  return byRule({
    'a bare UUID': v7(),
    'another type’s id': 'OTHER',
    'an unknown prefix': `xyz_${suffix}`,
    'no prefix': suffix,
    'in capitals': 'UPPER',
    truncated: 'SHORT',
    'too long': 'LONG',
    'another version': `rom_${v4()}`,
    'past 128 bits': `rom_z${suffix.slice(1)}`,
    'letters that are none': `rom_${suffix.slice(0, -1)}u`,
    garbage: `${PLANTED}_${PLANTED}`,
    empty: '',
    NUL: `${id}${NUL}`,
    'lone surrogate': `${id}\ud800`,
    'a line break': `${id}\n`,
    '10 KB': `rom_${PLANTED.repeat(2_048)}`,
    'a number': 5,
  })
}

/** The kinds that are made from the id that belongs there. */
const fromOwn: Record<string, (id: string) => string> = {
  OTHER: (id) => encodeId(id.startsWith('usr_') ? 'Room' : 'User', v7()),
  UPPER: (id) => id.toUpperCase(),
  SHORT: (id) => id.slice(0, -1),
  LONG: (id) => `${id}0`,
}

/** Everything that does not belong in a slot; `own` is what does. A type that is not known here fails by its name. */
export function badValuesOf(name: string, slot: Slot, own: unknown): Bad[] {
  const type = getNullableType(slot.type)
  const missing = isNonNullType(slot.type)
    ? byType({ null: null, ...(!slot.path.at(-1)!.match(/^\d+$/) && { 'left out': undefined }) })
    : byRule({ null: null })
  if (isListType(type)) {
    const item = getNamedType(type)
    const plain = isInputObjectType(item) ? byType({ 'a number': 5, 'a text': PLANTED }) : byType({ 'an object': {} })
    return [...missing, ...plain, ...byType({ 'null inside': [null] })]
  }
  if (isInputObjectType(type)) {
    const given = typeof own === 'object' && own !== null ? own : {}
    const objects = byType({
      'a text': PLANTED,
      'a number': 5,
      'a list': [5],
      'an unknown field': { ...given, zqbad: 1 },
      ...(type.isOneOf && { 'no field of one': {}, 'two fields of one': twoOf(Object.keys(type.getFields()), given) }),
    })
    return [...missing, ...objects.filter(({ value }) => value !== undefined)]
  }
  if (isEnumType(type)) {
    const [known] = type.getValues()
    return [
      ...missing,
      ...byType({
        'an unknown value': PLANTED.toUpperCase(),
        'another case': known!.name.replace(/[A-Za-z]/g, (c) =>
          c === c.toUpperCase() ? c.toLowerCase() : c.toUpperCase(),
        ),
        empty: '',
        'a number': 1,
        'an object': {},
      }),
    ]
  }
  const values = ofScalar[type.name]
  if (!values) throw new Error(`no bad values for ${name}, a ${type.name}`)
  return [...missing, ...values(slot)].map((bad) => {
    const make = type.name === 'ID' ? fromOwn[String(bad.value)] : undefined
    return make ? { ...bad, value: make(typeof own === 'string' ? own : encodeId('Room', v7())) } : bad
  })
}

function twoOf(fields: readonly string[], given: object): object | undefined {
  const [first] = Object.keys(given)
  const second = fields.find((field) => field !== first)
  return second === undefined ? undefined : { ...given, [second]: null }
}
