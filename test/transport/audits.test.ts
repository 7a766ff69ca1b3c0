import { serverAudits } from 'graphql-http'
import { afterAll, beforeAll, it } from 'vitest'
import { startApp } from '../support/app.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world.close())

/** As a signed-in person, since some audits introspect. */
const fetchFn: typeof fetch = (url, init) =>
  fetch(url, { ...init, headers: { ...init?.headers, authorization: `Bearer ${world.owner.client.token}` } })

for (const { id, name, fn } of serverAudits({ url: () => `${world.app.url}/graphql`, fetchFn })) {
  it(`PLAT-62 passes audit ${id} of GraphQL over HTTP: ${name}`, async () => {
    const result = await fn()
    if (result.status !== 'ok') throw new Error(`${result.status}: ${result.reason}`)
  })
}
