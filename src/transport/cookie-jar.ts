import type { ServerResponse } from 'node:http'
import type { CookieJar } from '../graphql/context.ts'

/** Cookies that this answer sets: for the whole host, sent along when somebody follows a link to us. */
export function cookieJar(response: ServerResponse, secure: boolean): CookieJar {
  return {
    set(name, value, { httpOnly, maxAge }) {
      const parts = [`${name}=${value}`, 'Path=/', 'SameSite=Lax', `Max-Age=${Math.floor(maxAge / 1000)}`]
      if (httpOnly) parts.push('HttpOnly')
      if (secure) parts.push('Secure')
      response.appendHeader('set-cookie', parts.join('; '))
    },
  }
}
