import type { Browser, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

const PATIENCE = 30_000

type Sent = { operation: string; headers: Record<string, string> }
type Pane = 'Operation Editor' | 'Variables' | 'Result Window'

/** GraphiQL in a browser, driven as a person would; and what it sent, and what the browser complained about. */
export class GraphiqlPage {
  readonly page: Page
  /** Requests that left for another place. */
  readonly foreign: string[] = []
  /** Errors of the console (a breach of the page's policy is one), whatever it says about workers, uncaught errors. */
  readonly complaints: string[] = []
  readonly #sent: Sent[] = []

  private constructor(page: Page, origin: string) {
    this.page = page
    page.setDefaultTimeout(PATIENCE)
    page.on('console', (line) => {
      if (line.type() === 'error' || /worker/i.test(line.text())) this.complaints.push(line.text())
    })
    page.on('pageerror', (error) => this.complaints.push(String(error)))
    page.context().on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url)) this.foreign.push(url)
      const { pathname, searchParams } = new URL(url)
      if (pathname !== '/graphql' || request.resourceType() === 'document') return
      // A subscription is one GET, all in its address.
      const text = searchParams.get('query') ?? (request.postDataJSON() as { query: string }).query
      const [, operation = ''] = /^\s*(?:query|mutation|subscription) (\w+)/m.exec(text) ?? []
      this.#sent.push({ operation, headers: request.headers() })
    })
  }

  static async open(browser: Browser, origin: string): Promise<GraphiqlPage> {
    const page = await browser.newPage({
      viewport: { width: 1600, height: 1200 },
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const graphiql = new GraphiqlPage(page, origin)
    await page.goto(`${origin}/graphql`)
    await page.locator('.graphiql-execute-button').waitFor()
    return graphiql
  }

  /** Headers of the requests of one operation, oldest first. */
  sent(operation: string): Sent['headers'][] {
    return this.#sent.filter((sent) => sent.operation === operation).map(({ headers }) => headers)
  }

  /** The tab of an example, which is called like its operation. */
  async turnTo(operation: string): Promise<void> {
    await this.page.locator('.graphiql-tab-button', { hasText: new RegExp(`^${operation}$`) }).click()
    await this.shows('Operation Editor', ` ${operation}`)
  }

  /** A tab of its own for a document. */
  async write(document: string): Promise<void> {
    await this.page.locator('.graphiql-tab-add').click()
    await this.#paste('Operation Editor', document)
  }

  fillVariables(variables: object): Promise<void> {
    return this.#paste('Variables', JSON.stringify(variables))
  }

  /** Runs what the tab holds, or stops what runs. */
  press(): Promise<void> {
    return this.page.locator('.graphiql-execute-button').click()
  }

  /** Until a pane has that text in it; blanks and breaks of lines do not count. */
  async shows(pane: Pane, text: string): Promise<void> {
    await expect.poll(() => this.text(pane), { timeout: PATIENCE }).toContain(text.replaceAll(/\s/g, ''))
  }

  /** What a pane has in it, without blanks. */
  text(pane: Pane): Promise<string> {
    return textOf(this.#pane(pane))
  }

  #pane(pane: Pane): Locator {
    return this.page.locator(`section[aria-label="${pane}"]`)
  }

  async #paste(pane: Pane, text: string): Promise<void> {
    await this.#pane(pane).locator('.view-lines:visible').click()
    await this.page.keyboard.press('ControlOrMeta+A')
    // Pasted, since the editor adds closing brackets to what is typed.
    await this.page.evaluate((pasted) => navigator.clipboard.writeText(pasted), text)
    await this.page.keyboard.press('ControlOrMeta+V')
    await expect.poll(() => textOf(this.#pane(pane)), { timeout: PATIENCE }).toBe(text.replaceAll(/\s/g, ''))
  }
}

/** The editor draws each line as an element, in any order, and breaks long ones. */
function textOf(pane: Locator): Promise<string> {
  return pane.locator('.view-line:visible').evaluateAll((lines) =>
    lines
      .map((line) => ({ top: line.getBoundingClientRect().top, text: line.textContent ?? '' }))
      .sort((one, other) => one.top - other.top)
      .map(({ text }) => text)
      .join('')
      .replaceAll(/\s/g, ''),
  )
}
