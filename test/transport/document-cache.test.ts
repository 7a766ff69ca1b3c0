import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { parse } from 'graphql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DocumentCache } from '../../src/transport/document-cache.ts'
import { type App, startApp } from '../support/app.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.close())

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

async function heap(): Promise<number> {
  await new Promise(setImmediate)
  collect()
  return process.memoryUsage().heapUsed / 1e6
}

it.each([
  ['long', (n: number) => `{ __typename } # ${n} ${'x'.repeat(900_000)}`, 200],
  ['long and broken', (n: number) => `{ __typename # ${n} ${'x'.repeat(900_000)}`, 400],
])('PLAT-66, 68 keeps little of documents that are %s, whoever sends them', async (_, document, status) => {
  const nobody = app.client()
  const send = async (n: number) => {
    const answer = await nobody.post(document(n))
    await answer.text()
    return answer.status
  }
  expect(await send(0)).toBe(status)
  const before = await heap()

  for (let n = 1; n <= 60; n++) await send(n)

  expect((await heap()) - before).toBeLessThan(30)
})

it('keeps documents that are used, and lets those go that were not for longest', () => {
  const cache = new DocumentCache()
  const text = (n: number) => `{ __typename } # ${n} ${'x'.repeat(10_000)}`
  const document = parse('{ __typename }')
  cache.set(text(0), document)
  for (let n = 1; n <= 200; n++) {
    cache.set(text(n), document)
    expect(cache.get(text(0))).toBe(document)
  }

  expect(cache.get(text(200))).toBe(document)
  expect(cache.get(text(1))).toBeUndefined()
})
