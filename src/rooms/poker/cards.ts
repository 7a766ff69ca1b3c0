import { compare, type Fraction, fraction } from '../../lib/fraction.ts'
import { codePointLength } from '../../lib/text.ts'

export type Cards = { readonly cards: readonly string[]; readonly ordinal: boolean }
export type Deck = Cards & { readonly name: string }

/** `index` is the card's place in the list, null when the list itself is wrong. */
export type CardFault = { index: number | null; message: string }

const MIN_CARDS = 2
const MAX_CARDS = 30
const MAX_LENGTH = 16

const SPECIAL_CARDS = ['?', '☕', '∞'] as const
export type SpecialCard = (typeof SPECIAL_CARDS)[number]

const VULGAR: Record<string, Fraction> = {
  '½': fraction(1, 2),
  '¼': fraction(1, 4),
  '¾': fraction(3, 4),
  '⅓': fraction(1, 3),
  '⅔': fraction(2, 3),
  '⅛': fraction(1, 8),
}

/** The special card this is, U+FE0F aside: allowed in every deck and without a value (ROOM-56). */
export function specialCard(card: string): SpecialCard | null {
  const plain = card === '☕\ufe0f' ? '☕' : card
  return SPECIAL_CARDS.find((special) => special === plain) ?? null
}

/** The card's exact value: `5`, `0.5`, `1/2`, `½`, `1½`. Null for special cards and all else (ROOM-56). */
export function parseCard(card: string): Fraction | null {
  const [, whole, decimals, divisor, vulgar] = /^(\d*)(?:\.(\d+)|\/(\d+)|([½¼¾⅓⅔⅛]))?$/.exec(card) ?? []
  if (vulgar) {
    const part = VULGAR[vulgar]!
    return fraction(BigInt(whole || 0) * part.denominator + part.numerator, part.denominator)
  }
  if (!whole) return null
  if (decimals) return fraction(BigInt(whole + decimals), 10n ** BigInt(decimals.length))
  if (divisor) return BigInt(divisor) > 0n ? fraction(BigInt(whole), BigInt(divisor)) : null
  return fraction(BigInt(whole))
}

/** Everything wrong with the cards of a deck, before it is made or a room is made with it (ROOM-55). Takes cleaned text. */
export function checkCards({ cards, ordinal }: Cards): CardFault[] {
  const faults: CardFault[] = []
  if (cards.length < MIN_CARDS || cards.length > MAX_CARDS) {
    faults.push({ index: null, message: `must have ${MIN_CARDS} to ${MAX_CARDS} cards` })
    if (cards.length > MAX_CARDS) return faults
  }

  const values: Fraction[] = []
  const seen = new Set<string>()
  for (const [index, card] of cards.entries()) {
    const special = specialCard(card)
    const value = ordinal || special ? null : parseCard(card)
    const message = fault()
    if (message) faults.push({ index, message })
    seen.add(special ?? card)
    if (value) values.push(value)

    function fault(): string | null {
      if (card === '' || codePointLength(card) > MAX_LENGTH) return `must have 1 to ${MAX_LENGTH} characters`
      if (seen.has(special ?? card)) return 'is in the deck already'
      if (ordinal || special) return null
      if (!value) return 'must be a number such as 5, 0.5, 1/2 or ½, or one of ? ☕ ∞'
      return values.some((other) => compare(other, value) === 0) ? 'has the value of another card' : null
    }
  }
  return faults
}
