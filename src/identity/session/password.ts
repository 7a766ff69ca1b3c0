import { randomBytes, timingSafeEqual } from 'node:crypto'
import { Slots } from '../../lib/slots.ts'
import { cleanText, codePointLength, isWellFormedText } from '../../lib/text.ts'
import { localPart } from '../user/email.ts'
import { type Argon2Cost, argon2id } from './argon2.ts'

/** ID-22: memory in KiB. */
const COST: Argon2Cost = { memory: 64 * 1024, passes: 3, parallelism: 4 }
const SALT_LENGTH = 16
const TAG_LENGTH = 32
const MIN_LENGTH = 12
const MAX_LENGTH = 256 // in code points, so never more than the 1,024 bytes that ID-22 allows

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/

/** Too many passwords are being computed; the caller is told to come back (`RATE_LIMITED`). */
export class PasswordBusyError extends Error {
  override readonly name = 'PasswordBusyError'

  constructor() {
    super('too many passwords are being computed')
  }
}

/** Each computation takes 64 MiB and four lanes: only so many at once, 64 waiting. */
const slots = new Slots({ limit: 4, waiting: 64, refusal: () => new PasswordBusyError() })

/** How many computations may run at once in this process (`MOOTHALL_ARGON2_CONCURRENCY`). */
export function setPasswordConcurrency(limit: number): void {
  slots.limit = limit
}

/** The password's hash as a PHC string. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_LENGTH)
  const tag = await compute(password, { cost: COST, salt, tagLength: TAG_LENGTH })
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${base64(salt)}$${base64(tag)}`
}

/** Whether the password is the one that was hashed. Without a hash the answer is no, after as long a computation (ID-23). */
export async function verifyPassword(password: string, phc: string | null): Promise<boolean> {
  const stored = parsePhc(phc)
  const { cost, salt, tag } = stored ?? { cost: COST, salt: randomBytes(SALT_LENGTH), tag: randomBytes(TAG_LENGTH) }
  const computed = await compute(password, { cost, salt, tagLength: tag.length })
  return timingSafeEqual(computed, tag) && stored !== null
}

/** Whether the hash was made with other parameters than today's, to be rewritten at the next success. */
export function needsRehash(phc: string): boolean {
  const stored = parsePhc(phc)
  if (!stored) return true
  const { cost, salt, tag } = stored
  const current = cost.memory === COST.memory && cost.passes === COST.passes && cost.parallelism === COST.parallelism
  return !current || salt.length !== SALT_LENGTH || tag.length !== TAG_LENGTH
}

/** What is wrong with a new password, or null (ID-22). Never echoes it. */
export function passwordFault(
  password: string,
  person: { email: string | null; displayName: string | null },
): string | null {
  const length = codePointLength(password.normalize('NFC'))
  if (length < MIN_LENGTH) return `must have at least ${MIN_LENGTH} characters`
  if (length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`
  if (!isWellFormedText(password)) return 'must not contain U+0000 or half a surrogate pair'

  const known = [person.email, person.email && localPart(person.email), person.displayName]
    .filter((name) => name != null)
    .map(fold)
  return known.includes(fold(password)) ? 'must not be the email, its local part or the display name' : null
}

type Recipe = { cost: Argon2Cost; salt: Buffer; tagLength: number }

const compute = (password: string, { cost, salt, tagLength }: Recipe): Promise<Buffer> =>
  slots.run(() => argon2id({ message: password.normalize('NFC'), nonce: salt, tagLength, ...cost }))

function parsePhc(phc: string | null): { cost: Argon2Cost; salt: Buffer; tag: Buffer } | null {
  const [, memory, passes, parallelism, salt, tag] = (phc && PHC.exec(phc)) || []
  if (!memory || !passes || !parallelism || !salt || !tag) return null
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    salt: Buffer.from(salt, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  }
}

/** PHC strings carry base64 without padding. */
const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
const fold = (text: string) => cleanText(text).toLowerCase()
