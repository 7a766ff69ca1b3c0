import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { type Json, redact, redactLine, redactText } from '../../src/lib/redact.ts'
import { isSecretKey } from '../../src/lib/redact-text.ts'

const CANARY = 'c4n4ry'
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl'
const PEM = `-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE${CANARY}\n-----END EC PRIVATE KEY-----`

describe('redacting by key', () => {
  it.each([
    'password',
    'dbPassword',
    'passwd',
    'PASSPHRASE',
    'clientSecret',
    'token',
    'x-api-token',
    'apiKey',
    'API-Key',
    'api_key',
    'privateKey',
    'Private Key',
    'accessKeyId',
    'signing_key',
    'Authorization',
    'X-Authorization',
    'cookie',
    'Set-Cookie',
    'credentials',
    'bearer',
    'connectionString',
    'connection-string',
    'MOOTHALL_KEY_PEPPERS',
    'ｐａｓｓｗｏｒｄ',
  ])('PLAT-23 redacts what %s holds, whatever it is', (key) => {
    expect(redact({ [key]: CANARY, kept: 1 })).toEqual({ [key]: '<redacted>', kept: 1 })
    expect(redact({ [key]: { deep: [CANARY] } })).toEqual({ [key]: '<redacted>' })
    expect(redact({ [key]: 42 })).toEqual({ [key]: '<redacted>' })
  })

  it.each(['key', 'keys', 'name', 'author', 'pass', 'passed', 'cook', 'storyKey', 'idempotencyKey', 'tok', 'en'])(
    'PLAT-23 keeps what %s holds',
    (key) => {
      expect(isSecretKey(key)).toBe(false)
      expect(redact({ [key]: 'kept' })).toEqual({ [key]: 'kept' })
    },
  )

  it('PLAT-23 looks at any depth and in lists', () => {
    expect(redact([{ a: [{ b: { ApiKey: CANARY, c: 1 } }, 'x'] }, [[{ token: CANARY }]]])).toEqual([
      { a: [{ b: { ApiKey: '<redacted>', c: 1 } }, 'x'] },
      [[{ token: '<redacted>' }]],
    ])
  })

  it.each([
    [
      { name: 'Authorization', value: CANARY },
      { name: 'Authorization', value: '<redacted>' },
    ],
    [
      { Value: CANARY, Name: 'X-Api-Key' },
      { Value: '<redacted>', Name: 'X-Api-Key' },
    ],
    [
      { key: 'dbPassword', value: { a: CANARY } },
      { key: 'dbPassword', value: '<redacted>' },
    ],
    [
      { header: 'set-cookie', values: [CANARY, CANARY] },
      { header: 'set-cookie', values: '<redacted>' },
    ],
    [
      { name: 'Accept', value: 'json' },
      { name: 'Accept', value: 'json' },
    ],
    [
      [
        ['Cookie', CANARY],
        ['accept', 'json'],
      ],
      [
        ['Cookie', '<redacted>'],
        ['accept', 'json'],
      ],
    ],
    [{ changed: ['password', 'displayName'] }, { changed: ['password', 'displayName'] }],
  ])('PLAT-23 reads pairs of name and value: %j', (pairs, expected) => {
    expect(redact(pairs)).toEqual(expected)
  })
})

describe('redacting JSON in strings', () => {
  const wrap = (value: unknown, times: number): unknown =>
    times === 0 ? value : JSON.stringify({ in: wrap(value, times - 1) })

  it('PLAT-23 opens three levels of it, and nothing gets through below', () => {
    for (const times of [1, 2, 3, 4, 5]) {
      const redacted = redact({ args: wrap({ password: CANARY, kept: 'x' }, times) }) as { args: string }
      expect(redacted.args).not.toContain(CANARY)
      expect(redacted.args).toContain('kept')
      if (times <= 3) {
        let opened = redacted.args as unknown
        for (let i = 0; i < times; i++) opened = JSON.parse(opened as string).in
        expect(opened).toEqual({ password: '<redacted>', kept: 'x' })
      }
    }
  })

  it('PLAT-23 opens a list, and a string written as JSON', () => {
    expect(redact(`[{"Token":"${CANARY}"}]`)).toBe('[{"Token":"<redacted>"}]')
    expect(redact(JSON.stringify(JSON.stringify({ token: CANARY })))).toBe(JSON.stringify('{"token":"<redacted>"}'))
  })

  it('PLAT-23 leaves JSON without secrets as it was spelled', () => {
    for (const text of ['{ "n": 12345678901234567890,\n "s": "\\u0041" }\n', '[]', '{not json', '"x"', '{"n":']) {
      expect(redact(text)).toBe(text)
    }
  })

  it('PLAT-23 finds a member that a repeated key hides from the parser', () => {
    expect(redact(`{"a":{"password":"${CANARY}"},"a":1}`)).not.toContain(CANARY)
  })

  it.each([
    [`{"user":"ada","password":"${CANARY}","rest":"cut of`, '{"user":"ada","password":"<redacted>","rest":"cut of'],
    [`{"user":"ada","password":"${CANARY}`, '{"user":"ada","password":"<redacted>"'],
    [`{"password": "a\\"${CANARY}", "n": 1`, '{"password": "<redacted>", "n": 1'],
    [`{"pin_token": 12345, "n": 1`, '{"pin_token": "<redacted>", "n": 1'],
    [`{"credentials": {"a": "${CANARY}"}, "n": 1`, '{"credentials": "<redacted>"'],
    [`answer 400: {"token":"${CANARY}"} from upstream`, 'answer 400: {"token":"<redacted>"} from upstream'],
    [`log "{\\"token\\":\\"a\\\\\\"${CANARY}\\",\\"n\\":1}"`, 'log "{\\"token\\":\\"<redacted>\\",\\"n\\":1}"'],
  ])('PLAT-23 redacts members of JSON that does not parse: %s', (text, expected) => {
    expect(redactText(text)).toBe(expected)
  })
})

describe('redacting by value', () => {
  it.each([
    ['mh_live_ab12cd34c2VjcmV0LXNlY3JldA', '<redacted>'],
    ['key mh_test_ab12cd34c2Vj, thanks', 'key <redacted>, thanks'],
    ['session=mhs_Zm9vYmFy-_; Path=/', 'session=<redacted>; Path=/'],
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw==', '<redacted>'],
    ['GET /calendar/Zm9vYmFy-_Zm9vYmFyZm9v.ics 200', 'GET /calendar/<redacted>.ics 200'],
    ['curl -H "Authorization: Bearer abc.def~1" x', 'curl -H "Authorization: <redacted>" x'],
    ['authorization: basic dXNlcjpwYXNz', 'authorization: <redacted>'],
    ['Proxy-Authorization: BASIC QWxhZGRpbg==', 'Proxy-Authorization: <redacted>'],
    [`token ${JWT}!`, 'token <redacted>!'],
    [`before\n${PEM}\nafter`, 'before\n<redacted>\nafter'],
    [`cut ${PEM.slice(0, 50)}`, 'cut <redacted>'],
    ['postgres://ada:s3cr3t@db.example:5432/x', 'postgres://<redacted>@db.example:5432/x'],
    [
      'see https://a:b@c@host/path?x=1 and redis://:pw@r',
      'see https://<redacted>@host/path?x=1 and redis://<redacted>@r',
    ],
  ])('PLAT-23 redacts %s', (text, expected) => {
    expect(redact({ note: text })).toEqual({ note: expected })
    expect(redactText(text)).toBe(expected)
    expect(redact({ [text]: 1 })).not.toHaveProperty([text])
  })

  it.each([
    'calls mh_secret_read and mh_kv_set',
    'a basic question',
    'https://host:8080/path?mail=a@example.org',
    'write to ada@example.org',
    'eyJust a word',
    '-----BEGIN CERTIFICATE-----',
    'MH001',
  ])('PLAT-23 keeps %s', (text) => {
    expect(redact(text)).toBe(text)
  })

  it('PLAT-23 stays linear on text made to slow it down', () => {
    const hostile = [
      'mh_',
      'eyJ-',
      'a.',
      'a://',
      'basic ',
      'bearer ',
      '\\',
      '"',
      '{"',
      '"a":',
      '-----BEGIN PRIVATE KEY-----',
      '\\"a',
      ' ',
      'mhs_',
    ]
    const started = performance.now()
    for (const part of hostile) redactText(part.repeat(Math.ceil(500_000 / part.length)))
    for (const part of hostile) redactText(`${'"token":'}${part.repeat(Math.ceil(500_000 / part.length))}`)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})

describe('redacting anything', () => {
  it('PLAT-23 makes JSON of what is none, and throws for nothing', () => {
    const circle: Record<string, unknown> = { n: 1 }
    circle.self = { circle }
    const twice = { a: 1 }
    const cases: [unknown, Json][] = [
      [undefined, null],
      [10n ** 20n, '100000000000000000000'],
      [
        [Number.NaN, Number.POSITIVE_INFINITY, undefined, () => 1, Symbol('x')],
        [null, null, null, null, null],
      ],
      [{ a: undefined, b: () => 1, c: null }, { c: null }],
      [new Date(0), '1970-01-01T00:00:00.000Z'],
      [new URL('https://u:p@h/'), 'https://<redacted>@h/'],
      [Buffer.from(CANARY), '<6 bytes>'],
      [
        new Map<unknown, unknown>([
          ['apiKey', CANARY],
          [1, 2],
        ]),
        { 1: 2, apiKey: '<redacted>' },
      ],
      [new Set([{ token: CANARY }]), [{ token: '<redacted>' }]],
      [circle, { n: 1, self: { circle: '<circular>' } }],
      [
        { x: twice, y: [twice] },
        { x: { a: 1 }, y: [{ a: 1 }] },
      ],
      [
        {
          get broken() {
            throw new Error(CANARY)
          },
        },
        '<unreadable>',
      ],
      [{ toJSON: () => ({ password: CANARY }) }, { password: '<redacted>' }],
    ]
    for (const [value, expected] of cases) expect(redact(value)).toEqual(expected)
  })

  it('PLAT-23 keeps a key __proto__ as a key', () => {
    const redacted = redact(JSON.parse('{"__proto__":{"token":"x"}}'))
    expect(JSON.stringify(redacted)).toBe('{"__proto__":{"token":"<redacted>"}}')
    expect(Object.getPrototypeOf(redacted)).toBe(Object.prototype)
  })

  it('PLAT-23 redacts an error with its cause and what it carries', () => {
    const cause = new AggregateError([new Error(`Bearer ${CANARY}`)], 'inner')
    const error = Object.assign(new Error(`{"password":"${CANARY}"}`, { cause }), {
      code: 'X1',
      config: { apiKey: CANARY },
    })
    const redacted = redact({ error }) as { error: { stack: string } }
    expect(redacted.error).toMatchObject({
      type: 'Error',
      message: '{"password":"<redacted>"}',
      code: 'X1',
      config: { apiKey: '<redacted>' },
      cause: { type: 'AggregateError', message: 'inner', errors: [{ message: '<redacted>' }] },
    })
    expect(redacted.error.stack).toContain('redact.test.ts')
    expect(JSON.stringify(redacted)).not.toContain(CANARY)
  })

  it('PLAT-24 stops 20 levels down, in objects, lists and JSON in strings', () => {
    const nest = (levels: number): unknown =>
      levels === 0 ? 'leaf' : levels % 2 ? [nest(levels - 1)] : { a: nest(levels - 1) }
    expect(redact(nest(20))).toEqual(nest(20))
    expect(JSON.stringify(redact(nest(21)))).toContain('<truncated>')
    expect(JSON.stringify(redact(nest(21)))).not.toContain('leaf')
    expect(redactText(JSON.stringify(nest(30)))).toContain('<truncated>')
    expect(redactText('['.repeat(100_000) + ']'.repeat(100_000))).toContain('<truncated>')
  })

  it('PLAT-23 lets no canary into a log line', () => {
    const lines: string[] = []
    const log = pino(
      { level: 'trace', hooks: { streamWrite: redactLine } },
      { write: (line: string) => lines.push(line) },
    )
    log
      .child({ headers: { cookie: CANARY } })
      .info({ args: `{"token":"${CANARY}"}` }, `mhs_${CANARY} %s`, `Bearer ${CANARY}`)
    log.error(Object.assign(new Error(`postgres://a:${CANARY}@h`), { password: CANARY }))
    log.info('plain')
    expect(lines).toHaveLength(3)
    for (const line of lines) {
      expect(line).not.toContain(CANARY)
      expect(line.endsWith('}\n')).toBe(true)
      expect(JSON.parse(line).level).toBeTypeOf('number')
    }
    expect(JSON.parse(lines[0]!).msg).toBe('<redacted> <redacted>')
  })
})
