import { getVariableValues, type OperationDefinitionNode, parse, validate } from 'graphql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashPassword } from '../../src/identity/session/password.ts'
import { schema } from '../../src/schema.ts'
import { TABS, type Tab } from '../../src/transport/graphiql/tabs.ts'
import { type App, startApp } from '../support/app.ts'
import { startAppProcess } from '../support/app-process.ts'
import { createWorld, type World } from '../support/world.ts'

const PASSWORD = 'correct horse battery'

let app: App
let world: World
beforeAll(async () => {
  app = await startApp()
  world = await createWorld(app)
})
afterAll(() => world.close())

const page = (path = '/graphql', accept = 'text/html,application/xhtml+xml,*/*;q=0.8') =>
  fetch(app.url + path, { headers: { accept } })

describe('the page', () => {
  it('is served to browsers that open the endpoint, and to nobody else', async () => {
    const html = await page()
    const other = await page('/graphql?query={__typename}', 'application/json')

    expect(html.status).toBe(200)
    expect(html.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(other.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect((await fetch(app.url, { redirect: 'manual' })).headers.get('location')).toBe('/graphql')
  })

  it('takes nothing from any other place, and lets the browser enforce it', async () => {
    const answer = await page()
    const html = await answer.text()
    const references = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, reference]) => reference!)

    expect(references.length).toBeGreaterThan(3)
    expect(references.filter((reference) => !/^(\/graphiql\/[0-9a-f]{16}\/|data:,$)/.test(reference))).toEqual([])
    expect(html).not.toMatch(/<script(?![^>]*(src=|type="application\/json"))/)
    const policy = answer.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).toContain("connect-src 'self';")
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/)
    for (const reference of references.filter((text) => text.startsWith('/'))) {
      const asset = await page(reference)
      expect(asset.status).toBe(200)
      expect(asset.headers.get('cache-control')).toContain('immutable')
      // Style sheets could fetch fonts and pictures; scripts are held by the policy.
      if (reference.endsWith('.css')) expect(await asset.text()).not.toMatch(/url\(\s*["']?(https?:)?\/\//)
    }
  })

  it('has no files but its own', async () => {
    for (const path of ['/graphiql/', '/graphiql/0000000000000000/boot.js', '/graphiql/../package.json']) {
      expect((await page(path)).status).toBe(404)
    }
  })
})

it('is turned off by MOOTHALL_GRAPHIQL=false', async () => {
  const other = await startAppProcess({ MOOTHALL_GRAPHIQL: 'false', MOOTHALL_PUBLIC_URL: 'https://moothall.example' })
  const get = (path: string) => fetch(other.url + path, { headers: { accept: 'text/html' }, redirect: 'manual' })
  const endpoint = await get('/graphql')
  const root = await get('/')
  await other.close()

  expect(endpoint.headers.get('content-type') ?? '').not.toContain('text/html')
  expect(root.status).toBe(404)
  // Behind https every answer also tells browsers to come back by https only.
  expect(root.headers.get('strict-transport-security')).toBe('max-age=31536000')
})

describe('the example tabs', () => {
  it.each(TABS)('fit the schema, variables included: $query', ({ query, variables = '{}' }) => {
    const document = parse(query)
    const given = JSON.parse(variables.replaceAll('ROUND_VERSION', '1'))
    const { variableDefinitions = [] } = document.definitions[0] as OperationDefinitionNode

    expect(validate(schema, document).map(({ message }) => message)).toEqual([])
    expect(getVariableValues(schema, variableDefinitions, given).errors).toBeUndefined()
  })

  it('play a first round when run one after the other', async () => {
    await world.sql('UPDATE identity.users SET email = $2, password_hash = $3 WHERE id = $1', [
      world.owner.userId,
      'owner@moothall.localhost',
      await hashPassword(PASSWORD),
    ])
    await world.sql(`UPDATE identity.orgs SET slug = 'main' WHERE id = $1`, [world.org.id])
    const browser = new Browser(`${app.url}/graphql`)
    const filled: Record<string, string> = { PASSWORD }
    const run = async (name: string) => {
      const { data, errors } = await browser.run(TABS.find(({ query }) => query.includes(` ${name}`))!, filled)
      expect(errors).toBeUndefined()
      return data
    }

    expect(await run('SignIn(')).toMatchObject({ sessionCreateWithPassword: { session: {} } })
    filled['SPACE_ID'] = (await run('CreateSpace')).spaceCreate.space.id
    filled['ROOM_ID'] = (await run('OpenRoom')).roomCreate.room.id
    filled['STORY_ID'] = (await run('AddStories')).first.story.id
    filled['ROUND_VERSION'] = (await run('SelectStory')).roomSelect.room.poker.roundVersion
    filled['TOKEN'] = (await run('SignInAnonymously')).sessionCreateAnonymous.token
    expect(await run('JoinSpace')).toMatchObject({ spaceJoin: { space: { name: 'Team' } } })
    expect(await browser.firstEvent(tabOf('WatchRoom'), filled)).toMatchObject({
      roomEvents: { __typename: 'RoomSnapshot', room: { title: 'First round' } },
    })
    expect(await run('SecondVote')).toMatchObject({ voteCast: { myCard: '5' } })
    expect(await run('Vote(')).toMatchObject({ voteCast: { myCard: '3' } })
    const { currentStory } = (await run('Reveal')).roomReveal.room.poker
    expect(currentStory.votes.map(({ card }: { card: string }) => card).sort()).toEqual(['3', '5'])
    expect(currentStory.result).toMatchObject({ counted: 2, average: 4 })
  })
})

const tabOf = (name: string) => TABS.find(({ query }) => query.includes(` ${name}`))!

/** Keeps cookies and sends the requests that the page's own script would. */
class Browser {
  readonly #url: string
  readonly #cookies = new Map<string, string>()

  constructor(url: string) {
    this.#url = url
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of many documents
  async run(tab: Tab, filled: Record<string, string>): Promise<any> {
    const answer = await this.#send(tab, filled, 'application/json')
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      this.#cookies.set(name!, value!)
    }
    return answer.json()
  }

  async firstEvent(tab: Tab, filled: Record<string, string>): Promise<unknown> {
    const answer = await this.#send(tab, filled, 'text/event-stream')
    let text = ''
    for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += part
      const [, event] = /event: next\ndata: (.*)\n/.exec(text) ?? []
      if (event) return JSON.parse(event).data
    }
    throw new Error(`no event: ${text}`)
  }

  #send({ query, variables = '{}', headers = '{}' }: Tab, filled: Record<string, string>, accept: string) {
    const fill = (text: string) =>
      text.replaceAll(/"(.*?)([A-Z_]{5,})"/g, (whole, head, name) => {
        const value = filled[name]
        return value === undefined ? whole : `"${head}${value}"`
      })
    const csrf = this.#cookies.get('moothall_csrf')
    return fetch(this.#url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept,
        cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(csrf && { 'x-moothall-csrf': csrf }),
        ...JSON.parse(fill(headers)),
      },
      body: JSON.stringify({ query, variables: JSON.parse(fill(variables)) }),
    })
  }
}
