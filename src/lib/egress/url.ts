import { isIP } from 'node:net'

const LENGTH = 2_048

/** The address of a receiver as it is used: normalised by the URL parser, which also turns every spelling of an IP address into the address. */
export function receiverUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || url.href.length > LENGTH) return null
  const isPlain = url.username === '' && url.password === '' && !text.includes('#')
  return isPlain && (url.protocol === 'https:' || url.protocol === 'http:') && url.hostname !== '' ? url : null
}

/** The IP address that a URL names; null where it names a host. */
export function literalOf({ hostname }: URL): string | null {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) === 0 ? null : bare
}
