export const REDACTED = '<redacted>'

/** A key that contains one of these, spelling aside, names a secret (PLAT-23 a). */
const SECRET_KEYS =
  /password|passwd|passphrase|secret|token|apikey|privatekey|accesskey|signingkey|authorization|cookie|credential|bearer|connectionstring|pepper/

/** The same few keys come again in every log line; a bounded memory, since callers choose keys too. */
const known = new Map<string, boolean>()
const KNOWN_KEYS = 2_000
const KNOWN_LENGTH = 64

export function isSecretKey(key: string): boolean {
  const remembered = known.get(key)
  if (remembered !== undefined) return remembered
  const letters = key.normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '')
  const isSecret = SECRET_KEYS.test(letters.toLowerCase())
  if (key.length <= KNOWN_LENGTH && known.size < KNOWN_KEYS) known.set(key, isSecret)
  return isSecret
}

/** Cheap: does the text hold anything that one of the patterns could match? */
const SUSPECT = /mhs?_|whsec_|bearer|basic|eyJ|-----BEGIN|:\/\/|\/calendar\//i

/**
 * What is secret whatever its key (PLAT-23 d). Every pattern is linear: no start can be tried twice over the same run
 * of characters, since logs and upstream answers are an attacker's to shape.
 */
const SECRETS: readonly [RegExp, string][] = [
  // Our keys, sessions and webhook secrets. `mh_` and a lower-case word is the name of a host function.
  [/(?<![A-Za-z0-9])(?:mhs_|whsec_|mh_(?:live|test)_|mh_(?=[a-z_-]{0,64}[A-Z0-9]))[\w+/=.-]+/g, REDACTED],
  [
    /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
    REDACTED,
  ],
  [/(?<![\w-])eyJ[\w-]{4,}\.[\w-]+(?:\.[\w-]*)*/g, REDACTED],
  [/\bbearer\s{1,8}[^\s"',;<>]+/gi, REDACTED],
  // `basic` is also an adjective: what follows it is no credential if it is one lower-case word.
  [/\b[Bb][Aa][Ss][Ii][Cc]\s{1,8}(?![a-z]+(?![\w+/=-]))[^\s"',;<>]+/g, REDACTED],
  // The address of a calendar feed is its secret.
  [/(\/calendar\/)[\w-]+/g, `$1${REDACTED}`],
  [/\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#"'<>]+@/gi, `$1${REDACTED}@`],
]

/** Replaces secrets that are recognised by their own shape. */
export function redactValues(text: string): string {
  if (!SUSPECT.test(text)) return text
  let result = text
  for (const [pattern, replacement] of SECRETS) result = result.replace(pattern, replacement)
  return result
}

/** A key within text, its quotes perhaps escaped by the strings around it. */
const MEMBER = /(?<!\\)(\\{0,15})"([^"\\]{1,128})\\{0,15}"\s{0,8}:\s{0,8}/g
const QUOTE = /(\\*)"/g
const SCALAR = /[^\s,}\]"\\{[]+/y

/**
 * Redacts the members of JSON that does not parse, such as an answer that was cut while it was read, or JSON within a
 * message. A secret object or list takes the rest of the text with it: where it ends nobody knows.
 */
export function redactMembers(text: string): string {
  let result = ''
  let done = 0
  for (const member of text.matchAll(MEMBER)) {
    const [matched, slashes, key] = member
    if (member.index < done || !isSecretKey(key!)) continue
    const start = member.index + matched.length
    result += `${text.slice(done, start)}${slashes}"${REDACTED}${slashes}"`
    done = endOfValue(text, start, slashes!.length)
  }
  return done === 0 ? text : result + text.slice(done)
}

function endOfValue(text: string, start: number, escapes: number): number {
  SCALAR.lastIndex = start
  if (SCALAR.test(text)) return SCALAR.lastIndex
  const opening = start + escapes
  if (text[opening] !== '"') return text.length
  QUOTE.lastIndex = opening + 1
  for (let quote = QUOTE.exec(text); quote; quote = QUOTE.exec(text)) {
    if (quote[1]!.length <= escapes) return QUOTE.lastIndex // a quote inside the value is escaped once more
  }
  return text.length
}
