/** An exact number; the denominator is positive. Not reduced: compare with `compare`. */
export type Fraction = { numerator: bigint; denominator: bigint }

export const fraction = (numerator: bigint | number, denominator: bigint | number = 1n): Fraction => ({
  numerator: BigInt(numerator),
  denominator: BigInt(denominator),
})

export const add = (a: Fraction, b: Fraction): Fraction => ({
  numerator: a.numerator * b.denominator + b.numerator * a.denominator,
  denominator: a.denominator * b.denominator,
})

/** Negative, zero or positive, as a sort wants it. */
export function compare(a: Fraction, b: Fraction): number {
  const left = a.numerator * b.denominator
  const right = b.numerator * a.denominator
  return left < right ? -1 : left > right ? 1 : 0
}

export function distance(a: Fraction, b: Fraction): Fraction {
  const { numerator, denominator } = add(a, { ...b, numerator: -b.numerator })
  return { numerator: numerator < 0n ? -numerator : numerator, denominator }
}

/** The mean of numbers that occur so many times each, together at least once. */
export function mean(values: readonly { value: Fraction; count: number }[]): Fraction {
  let sum = fraction(0)
  let total = 0n
  for (const { value, count } of values) {
    sum = add(sum, { ...value, numerator: value.numerator * BigInt(count) })
    total += BigInt(count)
  }
  return { numerator: sum.numerator, denominator: sum.denominator * total }
}

/** A number that is not negative, rounded half up to two decimals. */
export function toHundredths({ numerator, denominator }: Fraction): number {
  return Number((numerator * 200n + denominator) / (denominator * 2n)) / 100
}
