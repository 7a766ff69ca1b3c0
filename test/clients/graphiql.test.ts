import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { givePassword, PASSWORD } from '../identity/identity-app.ts'
import { startApp } from '../support/app.ts'
import { launchChromium, NO_CHROMIUM } from '../support/chromium.ts'
import { createWorld, type World } from '../support/world.ts'
import { GraphiqlPage } from './graphiql-page.ts'
import { untilStreams } from './open-streams.ts'

const WHO_AM_I = 'query WhoAmI { viewer { user { id } } spaces { nodes { slug } } }'

describe.skipIf(NO_CHROMIUM)(`GraphiQL in a browser${NO_CHROMIUM ? ` (${NO_CHROMIUM})` : ''}`, () => {
  let world: World
  let browser: Browser
  beforeAll(async () => {
    world = await createWorld(await startApp({ MOOTHALL_GRAPHIQL: 'true' }))
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })

  it('ID-14 signs in by its first tab, proves the cookie with each request, and follows a room live', {
    timeout: 240_000,
  }, async () => {
    const { room, host, voters } = await world.pokerRoom({ voters: 1 })
    // The pane shows the newest event alone: nobody is to fall silent meanwhile, which would be one.
    await world.sql(`UPDATE rooms.room_presence SET last_seen_at = now() + interval '1 day' WHERE room_id = $1`, [
      room.uuid,
    ])
    const email = await givePassword(world, host)
    const graphiql = await GraphiqlPage.open(browser, world.app.url)
    const cookies = () => graphiql.page.context().cookies()

    await graphiql.turnTo('SignIn')
    await graphiql.fillVariables({ input: { email, password: PASSWORD, delivery: 'COOKIE' } })
    await graphiql.press()
    await graphiql.shows('Result Window', '"__typename": "SessionCreateWithPasswordPayload"')
    const held = await cookies()
    expect(held.map(({ name, httpOnly }) => [name, httpOnly]).toSorted()).toEqual([
      ['moothall', true],
      ['moothall_csrf', false],
    ])
    const csrf = held.find(({ name }) => name === 'moothall_csrf')!.value
    const proves = expect.objectContaining({ 'x-moothall-csrf': csrf })

    // Nobody may read the schema: it is asked for once somebody has signed in.
    await expect.poll(() => graphiql.sent('IntrospectionQuery'), { timeout: 30_000 }).toEqual([proves])
    await graphiql.write(WHO_AM_I)
    await graphiql.press()
    await graphiql.shows('Result Window', `"viewer": { "user": { "id": "${host.id}" } }`)
    await graphiql.shows('Result Window', `"nodes": [ { "slug": "${world.home.slug}" } ]`)
    expect(graphiql.sent('WhoAmI')).toEqual([proves])

    await graphiql.turnTo('WatchRoom')
    await graphiql.fillVariables({ roomId: room.id })
    await graphiql.press()
    await graphiql.shows('Result Window', '"__typename": "RoomSnapshot"')
    expect(graphiql.sent('WatchRoom')).toEqual([proves])
    expect(graphiql.sent('WatchRoom')[0]!['accept']).toContain('text/event-stream')
    // The pane shows the newest event alone, and who is there is told when it is known: votes go on until one is seen.
    const cards = ['5', '8']
    const afterVote = async () => {
      await voters[0]!.vote(room, cards.reverse()[0]!)
      return graphiql.text('Result Window')
    }
    await expect.poll(afterVote, { timeout: 30_000, interval: 500 }).toContain('"__typename":"VoteCast"')
    await graphiql.shows('Result Window', `"userId": "${voters[0]!.id}"`)
    await graphiql.press()
    await untilStreams(world.app, 0)

    expect(graphiql.page.workers().map((worker) => worker.url().split('/').at(-1))).toContain('graphql-worker.js')
    expect(graphiql.foreign).toEqual([])
    expect(graphiql.complaints).toEqual([])
    await graphiql.page.close()
  })
})
