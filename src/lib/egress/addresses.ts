import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = [Address, number]

/** Where clouds tell their machines' secrets: never reached, whatever the operator allows. */
const METADATA = ['169.254.0.0/16', 'fd00:ec2::/32'].map(rangeOf)
/** All of IPv6 that is routed in public; what lies outside is something else by whatever name. */
const PUBLIC_IPV6 = rangeOf('2000::/3')
/** IPv6 addresses that stand for an IPv4 one, which would have to be looked at in its stead. Nobody needs them here. */
const TRANSLATED = new Set(['ipv4Mapped', 'rfc6145', 'rfc6052', '6to4', 'teredo'])
/** An old spelling of the same, in which the loopback stands too. */
const COMPATIBLE = rangeOf('::/96')

/** Which addresses a request may go to (PLAT-47). */
export class Addresses {
  readonly #inside: readonly Range[]

  /** `inside`: ranges in CIDR notation where the operator has receivers of their own. */
  constructor(inside: readonly string[]) {
    this.#inside = inside.map(rangeOf)
  }

  /** Whether it is one of the operator's own receivers, which may be reached without TLS. */
  isInside(text: string): boolean {
    const address = parse(text)
    return address !== null && !isBarred(address) && this.#inside.some((range) => isIn(address, range))
  }

  isAllowed(text: string): boolean {
    const address = parse(text)
    if (address === null || isBarred(address)) return false
    if (this.#inside.some((range) => isIn(address, range))) return true
    return address.range() === 'unicast' && (address.kind() === 'ipv4' || isIn(address, PUBLIC_IPV6))
  }
}

const isBarred = (address: Address): boolean =>
  TRANSLATED.has(address.range()) ||
  (address.range() === 'unicast' && isIn(address, COMPATIBLE)) ||
  METADATA.some((range) => isIn(address, range))

const isIn = (address: Address, [base, bits]: Range): boolean =>
  address.kind() === base.kind() && address.match(base as never, bits)

/** Only spellings that the operating system would read as this very address. */
function parse(text: string): Address | null {
  return isIP(text) === 0 ? null : ipaddr.parse(text)
}

function rangeOf(cidr: string): Range {
  return ipaddr.parseCIDR(cidr)
}
