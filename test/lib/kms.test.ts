import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyIdOf, type Place, seal, unseal } from '../../src/lib/envelope.ts'
import { createKeyring } from '../../src/platform/keyring/keyring.ts'
import { filesWith } from '../contract/sources.ts'

const PLACE: Place = { orgId: 'tenant-1', table: 'platform.webhooks', rowId: 'r1', column: 'secret_envelope' }
const LOCAL = { id: 'k1', secret: Buffer.alloc(32, 'k1') }

/** The service, as far as it is used: it opens under the key and the context that it sealed under. */
type Asked = { target: string; body: Record<string, unknown> }
const asked: Asked[] = []
const sealed = new Map<string, { keyId: unknown; context: string; plaintext: unknown }>()
let service: Server
const before = { ...process.env }

beforeAll(async () => {
  service = createServer(async (request, response) => {
    const target = String(request.headers['x-amz-target'])
    const body = JSON.parse(await text(request))
    asked.push({ target, body })
    const answer = (status: number, content: object) =>
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(content))
    const context = JSON.stringify(body.EncryptionContext)
    if (target === 'TrentService.Encrypt') {
      const blob = Buffer.from(`blob ${sealed.size} of ${'x'.repeat(150)}`).toString('base64')
      sealed.set(blob, { keyId: body.KeyId, context, plaintext: body.Plaintext })
      return answer(200, { CiphertextBlob: blob, KeyId: body.KeyId })
    }
    const kept = sealed.get(body.CiphertextBlob)
    if (kept?.context !== context || kept.keyId !== body.KeyId) {
      return answer(400, { __type: 'InvalidCiphertextException' })
    }
    return answer(200, { Plaintext: kept.plaintext, KeyId: kept.keyId })
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_KMS: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    AWS_REGION: 'eu-north-1',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
  })
})
afterAll(() => {
  process.env = before
  service.closeAllConnections()
  service.close()
})

describe('a key that AWS KMS holds', () => {
  it('PLAT-72 wraps each data key there, and the plaintext never goes there', async () => {
    const keys = createKeyring({ encryptionKeys: [], kmsKeyId: 'alias/moothall' })
    const envelope = await seal(keys, Buffer.from('c4n4ry'), PLACE)
    expect(keyIdOf(envelope)).toBe('kms:alias/moothall')
    expect(String(await unseal(keys, envelope, PLACE))).toBe('c4n4ry')
    expect(asked.map(({ target }) => target)).toEqual(['TrentService.Encrypt', 'TrentService.Decrypt'])
    const told = JSON.stringify(asked)
    expect(told).not.toContain('c4n4ry')
    expect(told).not.toContain(Buffer.from('c4n4ry').toString('base64'))
    expect(told).not.toContain('tenant-1') // the service writes the context into its trail
    expect(Buffer.from(asked[0]!.body['Plaintext'] as string, 'base64')).toHaveLength(32)
  })

  it('PLAT-36 opens nowhere else', async () => {
    const keys = createKeyring({ encryptionKeys: [], kmsKeyId: 'alias/moothall' })
    const envelope = await seal(keys, Buffer.from('x'), PLACE)
    for (const elsewhere of [{ orgId: 'o2' }, { rowId: 'r2' }, { column: 'previous_secret_envelope' }]) {
      await expect(unseal(keys, envelope, { ...PLACE, ...elsewhere })).rejects.toMatchObject({ fault: 'does_not_open' })
    }
  })

  it('PLAT-72 takes over from keys of the list, which still open what they wrapped, and from another key of its own', async () => {
    const listed = createKeyring({ encryptionKeys: [LOCAL], kmsKeyId: '' })
    const envelope = await seal(listed, Buffer.from('x'), PLACE)
    const both = createKeyring({ encryptionKeys: [LOCAL], kmsKeyId: 'first' })
    expect(String(await unseal(both, envelope, PLACE))).toBe('x')
    const under = await seal(both, Buffer.from('y'), PLACE)
    expect(keyIdOf(under)).toBe('kms:first')

    const second = createKeyring({ encryptionKeys: [], kmsKeyId: 'second' })
    expect(String(await unseal(second, under, PLACE))).toBe('y')
    await expect(unseal(second, envelope, PLACE)).rejects.toMatchObject({ fault: 'key_missing' })
    await expect(unseal(listed, under, PLACE)).rejects.toMatchObject({ fault: 'key_missing' })
  })

  it('PLAT-72 does not take a fault of the service for a value that does not open', async () => {
    const down = { encrypt: async () => Buffer.alloc(9), decrypt: () => Promise.reject(new Error('throttled')) }
    const keys = createKeyring({ encryptionKeys: [], kmsKeyId: 'k', kms: down })
    const envelope = await seal(keys, Buffer.from('x'), PLACE)
    await expect(unseal(keys, envelope, PLACE)).rejects.toThrow('throttled')
  })

  it('PLAT-72 loads its client nowhere but where a key of it is configured', async () => {
    expect(await filesWith(/(?<!type [^\n]*)from '@aws-sdk/)).toEqual([])
    expect(await filesWith(/import\('@aws-sdk/)).toEqual(['src/lib/kms.ts'])
  })
})
