import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { answerWithin } from '../../src/transport/request-timeout.ts'

async function ask(handle: (response: ServerResponse) => void): Promise<{ status: number; text: string }> {
  const server = createServer((_request, response) => handle(response)).listen(0)
  await once(server, 'listening')
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const text = await answer.text()
  server.close()
  return { status: answer.status, text }
}

it('PLAT-68 answers TIMEOUT for a request without an answer in time, and the late answer goes nowhere', async () => {
  const late = Promise.withResolvers<boolean>()
  const { status, text } = await ask((response) => {
    answerWithin(50, response)
    response.once('finish', () => late.resolve(response.writableEnded))
  })

  expect(status).toBe(503)
  expect(JSON.parse(text)).toMatchObject({ errors: [{ extensions: { code: 'TIMEOUT' } }] })
  expect(await late.promise).toBe(true)
})

it('PLAT-68 leaves alone what has begun its answer, as streams have', async () => {
  const { status, text } = await ask((response) => {
    answerWithin(50, response)
    response.write('first ')
    setTimeout(() => response.end('last'), 150)
  })

  expect({ status, text }).toEqual({ status: 200, text: 'first last' })
})
