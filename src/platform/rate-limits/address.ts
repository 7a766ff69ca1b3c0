import { isIPv4, isIPv6 } from 'node:net'

/**
 * What counts as one client address (PLAT-69): an IPv4 address, also when mapped into IPv6, or the /64 of an IPv6
 * address, which one household or server has to itself. Whatever is no address shares one key.
 */
export function addressKey(address: string): string {
  if (isIPv4(address)) return address
  const plain = address.split('%')[0]!
  if (!isIPv6(plain)) return 'unknown'
  const groups = ipv6Groups(plain)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped)
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.')
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** The eight groups of a valid IPv6 address. */
function ipv6Groups(address: string): number[] {
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a, b, c, d] = bytes.map(Number) as [number, number, number, number]
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  })
  const [head = [], tail] = hex.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const zeros = tail ? Array<string>(8 - head.length - tail.length).fill('0') : []
  return [...head, ...zeros, ...(tail ?? [])].map((group) => Number.parseInt(group, 16))
}
