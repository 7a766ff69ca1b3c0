import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { operation } from '../../src/db/operation.ts'
import { makeSignInToken } from '../../src/identity/sign-in/make-token.ts'
import { startApp } from '../support/app.ts'
import { launchChromium, NO_CHROMIUM } from '../support/chromium.ts'
import { createWorld, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await createWorld(await startApp())
})
afterAll(() => world?.close())

const page = (path: string) => fetch(world.app.url + path)
const newToken = () => {
  const scope = { orgId: world.org.id, userId: world.owner.userId }
  return operation('write', scope, () => makeSignInToken({ ...scope, client: null }))
}
const spent = async () => (await world.sql('SELECT FROM identity.login_tokens WHERE used_at IS NOT NULL')).length

describe('the page that mailed links lead to', () => {
  it('ID-25 takes nothing from any other place, and is one page for everybody', async () => {
    const answer = await page('/sign-in')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = answer.headers.get('content-security-policy')!
    expect(policy).toContain("default-src 'none'; script-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/https?:|\*|unsafe/)
    const html = await answer.text()
    expect(html).not.toMatch(/<script(?![^>]*src=)/)
    expect(await (await page('/sign-in?token=x')).text()).toBe(html)
    const script = await page('/sign-in/page.js')
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect((await page('/sign-in/other.js')).status).toBe(404)
    expect((await fetch(`${world.app.url}/sign-in`, { method: 'POST' })).status).toBe(404)
  })

  it.skipIf(NO_CHROMIUM)(
    'ID-25 spends nothing when it is opened, and signs in by its button',
    { timeout: 60_000 },
    async () => {
      const { token } = await newToken()
      const browser = await launchChromium()
      try {
        const tab = await browser.newPage()
        const foreign: string[] = []
        tab.on('request', (request) => {
          if (!request.url().startsWith(world.app.url) && !request.url().startsWith('data:'))
            foreign.push(request.url())
        })
        await tab.goto(`${world.app.url}/sign-in#token=${token}`)
        await tab.getByText('Sign in to Org.').waitFor()
        expect(tab.url()).toBe(`${world.app.url}/sign-in`)
        expect(await spent()).toBe(0)

        await tab.getByRole('button', { name: 'Sign in' }).click()
        await tab.waitForURL('**/graphql')
        expect(await spent()).toBe(1)
        expect((await tab.context().cookies()).map(({ name }) => name).toSorted()).toEqual([
          'moothall',
          'moothall_csrf',
        ])

        await tab.goto(`${world.app.url}/sign-in#token=${token}`)
        await tab.getByText('nothing any more').waitFor()
        expect(await tab.getByRole('button').isVisible()).toBe(false)
        expect(foreign).toEqual([])
      } finally {
        await browser.close()
      }
    },
  )
})
