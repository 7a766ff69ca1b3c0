import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Addresses } from '../../src/lib/egress/addresses.ts'
import { Egress } from '../../src/lib/egress/client.ts'
import { EgressError } from '../../src/lib/egress/errors.ts'
import type { Resolve } from '../../src/lib/egress/resolve.ts'

const REFUSED = [
  '127.0.0.1',
  '10.1.2.3',
  '172.16.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '0.0.0.0',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  '64:ff9b::808:808',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2002:808:808::',
  '2001::1',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '2001:db8::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
  '100::1',
  '5f00::1',
  '4000::1', // not given out, so nobody's
]

describe('PLAT-47 addresses', () => {
  it.each(REFUSED)('PLAT-47 refuses %s', (address) => {
    const addresses = new Addresses([])
    expect([addresses.isAllowed(address), addresses.isInside(address)]).toEqual([false, false])
  })

  it('PLAT-47 takes public addresses, and those that the operator lists', () => {
    const addresses = new Addresses(['10.0.0.0/8', 'fd12::/16'])
    for (const address of ['8.8.8.8', '2606:4700::1111', '10.1.2.3', 'fd12::1']) {
      expect(addresses.isAllowed(address)).toBe(true)
    }
    expect(addresses.isInside('8.8.8.8')).toBe(false)
    expect(addresses.isInside('10.1.2.3')).toBe(true)
    expect(addresses.isAllowed('192.168.0.1')).toBe(false)
  })

  it('PLAT-47 reaches the metadata of clouds by no list and no translation', () => {
    const addresses = new Addresses(['0.0.0.0/0', '::/0'])
    for (const address of [
      '169.254.169.254',
      'fd00:ec2::254',
      '::ffff:169.254.169.254',
      '64:ff9b::a9fe:a9fe',
      '2002:a9fe:a9fe::',
      '::a9fe:a9fe',
    ]) {
      expect([address, addresses.isAllowed(address)]).toEqual([address, false])
    }
    expect(addresses.isAllowed('127.0.0.1')).toBe(true)
  })
})

const NAMES: Record<string, string[]> = {
  'good.test': ['127.0.0.1'],
  'mixed.test': ['127.0.0.1', '10.0.0.1'],
  'private.test': ['10.0.0.1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'public.test': ['8.8.8.8'],
  'half.test': ['8.8.8.8', '169.254.169.254'],
  'empty.test': [],
}
const asked: string[] = []
const resolve: Resolve = async (hostname) => {
  asked.push(hostname)
  const found = NAMES[hostname]
  if (!found) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
  return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
}

let server: Server
let port: number
let answer: (response: ServerResponse, path: string) => void
const paths: string[] = []
const inside = new Egress({ allow: ['127.0.0.0/8'], resolve })
const outside = new Egress({ allow: [], resolve })

beforeAll(async () => {
  server = createServer((request, response) => {
    paths.push(request.url!)
    answer(response, request.url!)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  await Promise.all([inside.close(), outside.close()])
  server.closeAllConnections()
  server.close()
})

async function faultOf(egress: Egress, url: string, more: object = {}): Promise<string> {
  const exchange = { url, method: 'POST', headers: {}, body: '{}', timeout: 5_000, maxBytes: 4_096, ...more } as const
  const error = await egress.request(exchange).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (error === null) return 'none'
  if (!(error instanceof EgressError)) throw error
  return error.fault
}

describe('PLAT-47, PLAT-48 the guarded client', () => {
  it('PLAT-47 refuses every spelling of an address before it connects', async () => {
    paths.length = 0
    answer = (response) => response.end()
    for (const host of [
      '127.0.0.1',
      '0x7f000001',
      '2130706433',
      '017700000001',
      '0177.0.0.1',
      '127.1',
      '0x7f.0.0.0x1',
      '127.0.0.1.',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '１２７.０.０.１',
    ]) {
      expect([host, await faultOf(outside, `https://${host}:${port}/`)]).toEqual([host, 'address'])
      expect([host, await faultOf(outside, `http://${host}:${port}/`)]).toEqual([host, 'address'])
    }
    expect(paths).toEqual([])
    // They are the address that they spell.
    expect(await faultOf(inside, `http://0x7f000001:${port}/hex`)).toBe('none')
    expect(paths).toEqual(['/hex'])
  })

  it('PLAT-47 refuses a name of which one address is bad, and asks for it at each attempt', async () => {
    answer = (response) => response.end()
    expect(await faultOf(inside, `http://mixed.test:${port}/`)).toBe('address')
    expect(await faultOf(inside, `http://private.test:${port}/`)).toBe('address')
    expect(await faultOf(inside, `http://mapped.test:${port}/`)).toBe('address')
    expect(await faultOf(outside, `https://half.test:${port}/`)).toBe('address')
    expect(await faultOf(inside, `http://gone.test:${port}/`)).toBe('name')
    expect(await faultOf(inside, `http://empty.test:${port}/`)).toBe('name')
    asked.length = 0
    paths.length = 0
    for (let at = 0; at < 3; at++) expect(await faultOf(inside, `http://good.test:${port}/${at}`)).toBe('none')
    expect(asked).toEqual(['good.test', 'good.test', 'good.test'])
    expect(paths).toEqual(['/0', '/1', '/2'])
  })

  it('PLAT-47 a name may be named while none of its addresses is known to be bad', async () => {
    const checked = (url: string) =>
      outside.check(url).then(
        (found) => found?.href ?? null,
        (error: EgressError) => error.fault,
      )
    expect(await checked('https://Public.test')).toBe('https://public.test/')
    expect(await checked('https://gone.test/later')).toBe('https://gone.test/later')
    for (const name of ['private.test', 'half.test', 'good.test', 'mapped.test', '0x7f.1', '[::1]']) {
      expect([name, await checked(`https://${name}/`)]).toEqual([name, 'address'])
    }
    expect(await checked('http://public.test/')).toBe('address')
    expect(await checked(`https://public.test/${'x'.repeat(2_048)}`)).toBe(null)
  })

  it('PLAT-47 speaks without TLS to receivers inside alone', async () => {
    expect(await faultOf(inside, 'http://8.8.8.8/')).toBe('address')
    expect(await faultOf(inside, 'http://public.test/')).toBe('address')
    expect(await faultOf(inside, `https://127.0.0.1:${port}/`)).toBe('tls')
  })

  it('PLAT-47 takes no credentials, fragment or other scheme', async () => {
    for (const url of [
      `http://user@127.0.0.1:${port}/`,
      `http://user:word@127.0.0.1:${port}/`,
      `http://127.0.0.1:${port}/#`,
      `ftp://127.0.0.1:${port}/`,
      'file:///etc/passwd',
      'nothing',
    ]) {
      expect([url, await faultOf(inside, url)]).toEqual([url, 'address'])
      expect(await inside.check(url)).toBe(null)
    }
  })

  it('PLAT-47 follows no redirect', async () => {
    paths.length = 0
    answer = (response) => response.writeHead(302, { location: `http://127.0.0.1:${port}/next` }).end('elsewhere')
    const exchange = { method: 'POST', headers: {}, body: '', timeout: 5_000, maxBytes: 4_096 } as const
    const { status, body } = await inside.request({ ...exchange, url: `http://127.0.0.1:${port}/first` })
    expect([status, body.toString()]).toEqual([302, 'elsewhere'])
    expect(paths).toEqual(['/first'])
  })

  it('PLAT-47 asks no proxy', async () => {
    const proxied: string[] = []
    const proxy = createTcpServer((socket) => {
      proxied.push('asked')
      socket.destroy()
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const names = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'] as const
    const before = names.map((name) => process.env[name])
    for (const name of names) process.env[name] = address
    try {
      answer = (response) => response.end()
      const fresh = new Egress({ allow: ['127.0.0.0/8'], resolve })
      expect(await faultOf(fresh, `http://good.test:${port}/`)).toBe('none')
      await fresh.close()
      expect(proxied).toEqual([])
    } finally {
      names.forEach((name, at) => {
        if (before[at] === undefined) delete process.env[name]
        else process.env[name] = before[at]
      })
      proxy.close()
    }
  })

  it('PLAT-43 reads no more of an answer than is asked for, and ends the connection', async () => {
    const closed = Promise.withResolvers<void>()
    answer = (response) => {
      response.writeHead(200)
      const more = setInterval(() => response.write('x'.repeat(3_000)), 5)
      response.on('close', () => {
        clearInterval(more)
        closed.resolve()
      })
    }
    const exchange = { method: 'POST', headers: {}, body: '', timeout: 10_000, maxBytes: 4_096 } as const
    const { body } = await inside.request({ ...exchange, url: `http://127.0.0.1:${port}/` })
    expect(body.length).toBe(4_096)
    await closed.promise
  })

  it('PLAT-42 gives up when the answer does not come, does not end, or nobody accepts', async () => {
    answer = (response, path) => {
      if (path === '/drip') response.writeHead(200).write('x')
    }
    expect(await faultOf(inside, `http://127.0.0.1:${port}/silent`, { timeout: 200 })).toBe('timeout')
    expect(await faultOf(inside, `http://127.0.0.1:${port}/drip`, { timeout: 200 })).toBe('timeout')
    expect(await faultOf(inside, 'http://127.0.0.1:1/')).toBe('connection')
    const stopped = AbortSignal.abort()
    expect(await faultOf(inside, `http://127.0.0.1:${port}/`, { signal: stopped })).toBe('cancelled')
  })

  it('PLAT-42, 47 asks for a name once at a time and no longer than it takes to connect', async () => {
    let asked = 0
    const silent = new Egress({
      allow: [],
      connectTimeout: 100,
      resolve: () => {
        asked += 1
        return new Promise(() => {})
      },
    })
    const url = 'https://silent.test/'
    const faults = await Promise.all(Array.from({ length: 20 }, () => faultOf(silent, url, { timeout: 5_000 })))
    expect(new Set(faults)).toEqual(new Set(['timeout']))
    expect((await silent.check(url))?.href).toBe(url) // it may come to have an address
    expect(asked).toBe(1)
    await silent.close()
  })

  it('PLAT-47 says of what it was refused nothing but that', async () => {
    for (const url of ['https://10.0.0.1/', 'https://private.test/']) {
      const exchange = { url, method: 'POST', headers: {}, body: '', timeout: 1_000, maxBytes: 10 } as const
      const error: Error = await outside.request(exchange).catch((thrown) => thrown)
      expect(error.message).toBe('address not allowed')
    }
  })
})
