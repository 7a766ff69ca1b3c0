import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { configureIdentity } from '../../src/identity/index.ts'
import { FLOW_LIFE, type Flow, flowCookieName, openFlow, sealFlow } from '../../src/identity/oidc/flow.ts'
import { newId } from '../../src/lib/type-id.ts'

const pepper = (id: number) => ({ id, secret: randomBytes(32) })
const [first, second] = [pepper(1), pepper(2)]
const settings = (peppers: { id: number; secret: Uint8Array }[], env: Record<string, string> = {}) =>
  configureIdentity(readConfig({ NODE_ENV: 'test', ...env }), {} as never, peppers)
const newFlow = (): Flow => ({
  state: 'state',
  nonce: 'nonce',
  verifier: 'canary-verifier',
  returnTo: '/',
  linkFor: newId(),
  endsAt: Date.now() + FLOW_LIFE,
})

beforeEach(() => settings([first]))

describe('a sign-in on its way', () => {
  it('ID-28 is opened by any process that has the instance’s peppers, older ones included', () => {
    const flow = newFlow()
    const sealed = sealFlow(flow)
    settings([second, first])
    expect(openFlow(sealed)).toEqual(flow)
    settings([second])
    expect(openFlow(sealed)).toBeNull()
  })

  it('ID-28 tells its browser nothing and is never the same', () => {
    const sealed = [sealFlow(newFlow()), sealFlow(newFlow())]
    expect(Buffer.from(sealed[0]!, 'base64url').toString('latin1')).not.toContain('canary')
    expect(sealed[0]).not.toBe(sealed[1])
    expect(sealed[0]).toMatch(/^[\w-]{100,1000}$/)
  })

  it('ID-28 is over after ten minutes, to the millisecond', () => {
    expect(openFlow(sealFlow({ ...newFlow(), endsAt: Date.now() + 5_000 }))).not.toBeNull()
    expect(openFlow(sealFlow({ ...newFlow(), endsAt: Date.now() }))).toBeNull()
    expect(FLOW_LIFE).toBe(600_000)
  })

  it('ID-28 is not opened when any of its bytes has changed', () => {
    const bytes = Buffer.from(sealFlow(newFlow()), 'base64url')
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      expect(openFlow(changed.toString('base64url'))).toBeNull()
    }
    for (let length = 0; length < bytes.length; length++) {
      expect(openFlow(bytes.subarray(0, length).toString('base64url'))).toBeNull()
    }
  })

  it('ID-13, 28 has a cookie that is bound to the host where we are reached by https', () => {
    expect(flowCookieName()).toBe('moothall_oidc')
    settings([first], { MOOTHALL_PUBLIC_URL: 'https://moot.example' })
    expect(flowCookieName()).toBe('__Host-moothall_oidc')
  })
})

describe('the settings of a provider', () => {
  const read = (env: Record<string, string>) => () => readConfig({ NODE_ENV: 'test', ...env })
  const client = { MOOTHALL_OIDC_CLIENT_ID: 'moothall' }

  it.each([
    'https://id.example',
    'https://id.example/realms/one',
    'http://localhost:8080/realms/one',
    'http://127.0.0.1:1',
    'http://[::1]:1',
  ])('PLAT-78 takes %s for an issuer', (issuer) => {
    expect(read({ ...client, MOOTHALL_OIDC_ISSUER: issuer })().MOOTHALL_OIDC_ISSUER).toBe(issuer)
  })

  it.each([
    'http://id.example',
    'http://localhost.example',
    'http://127.0.0.1.example',
    'ftp://id.example',
    'id.example',
    'https://id.example?x',
    'https://id.example#x',
    'https://',
  ])('PLAT-76, 78 takes no %s for an issuer, and names the variable alone', (issuer) => {
    expect(read({ ...client, MOOTHALL_OIDC_ISSUER: issuer })).toThrow(
      /^Variable MOOTHALL_OIDC_ISSUER cannot be read\.$/,
    )
  })

  it('PLAT-78 takes issuer and client together or not at all', () => {
    expect(read(client)).toThrow('MOOTHALL_OIDC_CLIENT_ID')
    expect(read({ MOOTHALL_OIDC_ISSUER: 'https://id.example' })).toThrow('MOOTHALL_OIDC_CLIENT_ID')
  })

  it('PLAT-78 lets people join as member or viewer, as nothing more', () => {
    expect(read({ MOOTHALL_OIDC_AUTO_JOIN: 'acme:viewer' })().MOOTHALL_OIDC_AUTO_JOIN).toEqual({
      orgSlug: 'acme',
      role: 'viewer',
    })
    expect(read({})().MOOTHALL_OIDC_AUTO_JOIN).toBeNull()
    for (const value of ['acme', 'acme:admin', 'acme:owner', 'acme:', ':member', 'Acme:member', 'acme:member:x']) {
      expect(read({ MOOTHALL_OIDC_AUTO_JOIN: value })).toThrow('MOOTHALL_OIDC_AUTO_JOIN')
    }
  })

  it('PLAT-78 lists embedding clients by name', () => {
    expect(read({ MOOTHALL_EMBED_PROVIDERS: 'meet, zoom' })().MOOTHALL_EMBED_PROVIDERS).toEqual(['meet', 'zoom'])
    expect(read({})().MOOTHALL_EMBED_PROVIDERS).toEqual([])
    for (const value of ['meet,', 'meet,,zoom', 'x'.repeat(33), 'me et']) {
      expect(read({ MOOTHALL_EMBED_PROVIDERS: value })).toThrow('MOOTHALL_EMBED_PROVIDERS')
    }
  })
})
