import { ACCOUNT_HEADER } from './identity-provider.ts'

export type Page = { status: number; location: string | null; text: string; cookies: string[] }

/** Follows no link by itself, keeps cookies by host as browsers do, and comes from one address. */
export class Browser {
  readonly #jar = new Map<string, Map<string, string>>()
  readonly address: string

  constructor(address: string) {
    this.address = address
  }

  cookie(url: string, name: string): string | undefined {
    return this.#jarOf(url).get(name)
  }

  setCookie(url: string, name: string, value: string): void {
    this.#jarOf(url).set(name, value)
  }

  get(url: string, headers: Record<string, string> = {}): Promise<Page> {
    return this.#send(url, { method: 'GET', headers })
  }

  post(url: string, form: Record<string, string>, headers: Record<string, string> = {}): Promise<Page> {
    return this.#send(url, { method: 'POST', headers, body: new URLSearchParams(form) })
  }

  /** Signs in at the provider as that account; gives the address that it sends the browser back to. */
  async signInAt(url: string, account: string, home: string): Promise<string> {
    let next = url
    for (let hop = 0; hop < 10; hop++) {
      const { location, status, text } = await this.get(next, { [ACCOUNT_HEADER]: account })
      if (!location) throw new Error(`the provider answered ${status}: ${text.slice(0, 200)}`)
      next = new URL(location, next).href
      if (next.startsWith(home)) return next
    }
    throw new Error('the provider sends the browser in circles')
  }

  async #send(url: string, { headers, ...init }: RequestInit & { headers: Record<string, string> }): Promise<Page> {
    const jar = this.#jarOf(url)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...headers, 'x-forwarded-for': this.address, ...(cookie && { cookie }) },
    })
    const cookies = response.headers.getSetCookie()
    for (const line of cookies) {
      const [pair = ''] = line.split(';')
      const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]
      const gone = value === '' || /max-age=0/i.test(line) || /expires=Thu, 01 Jan 1970/i.test(line)
      if (gone) jar.delete(name)
      else jar.set(name, value)
    }
    return { status: response.status, location: response.headers.get('location'), text: await response.text(), cookies }
  }

  #jarOf(url: string): Map<string, string> {
    const { origin } = new URL(url)
    const jar = this.#jar.get(origin) ?? new Map<string, string>()
    this.#jar.set(origin, jar)
    return jar
  }
}
