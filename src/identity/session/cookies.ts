import type { CookieJar } from '../../graphql/context.ts'
import { identitySettings } from '../settings.ts'

/** Readable by the page's scripts, which echo it in `x-moothall-csrf` (ID-14). */
export const CSRF_COOKIE = 'moothall_csrf'

/** `__Host-` binds the cookie to this host over https; browsers refuse the prefix on plain http (ID-13). */
export const sessionCookieName = (secure: boolean): string => (secure ? '__Host-moothall' : 'moothall')

/** The browser forgets both when the session cannot hold any longer. */
export function setSessionCookies(cookies: CookieJar, { token, csrf }: { token: string; csrf: string }): void {
  const { secureCookies, sessionLife } = identitySettings()
  cookies.set(sessionCookieName(secureCookies), token, { httpOnly: true, maxAge: sessionLife.max })
  cookies.set(CSRF_COOKIE, csrf, { httpOnly: false, maxAge: sessionLife.max })
}

export function clearSessionCookies(cookies: CookieJar | null): void {
  cookies?.set(sessionCookieName(identitySettings().secureCookies), '', { httpOnly: true, maxAge: 0 })
  cookies?.set(CSRF_COOKIE, '', { httpOnly: false, maxAge: 0 })
}
